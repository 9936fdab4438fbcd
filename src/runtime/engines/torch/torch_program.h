// TorchScript files as programs for the interpreter: frozen, on one device, several joined into
// one.
#pragma once

#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/script.h>

#include <filesystem>
#include <vector>

#include "leapp/bundle.h"

namespace leapp {

/// A flat graph that takes tensors and leaves as many tensors on the stack as the model has
/// outputs.
struct TorchProgram {
  torch::jit::Code code;
  /// The module, when the graph still reads its attributes: it is then the first input.
  std::optional<c10::IValue> self;
  /// Inputs that the graph changes in place; they are given a copy.
  std::vector<bool> writes_input;
};

/// Loads one model. Throws Error(kValue) when the file is no TorchScript or has other inputs and
/// outputs than the node declares.
TorchProgram load_program(const Model& node, const std::filesystem::path& file, at::Device device);

/// Loads the nodes of `part` as one program with the ports of `signature`, called "node/port".
/// Throws Error(kValue) when a node keeps attributes or changes its inputs.
TorchProgram load_merged_program(const Bundle& part,
                                 const std::vector<std::filesystem::path>& files,
                                 const Model& signature, at::Device device);

}  // namespace leapp
