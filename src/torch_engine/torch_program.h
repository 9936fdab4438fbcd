// TorchScript files as programs for the interpreter: frozen, on one device, several joined into
// one.
#pragma once

#include <torch/csrc/jit/runtime/interpreter.h>

#include <vector>

#include "leapp/engine.h"

namespace leapp {

/// A flat graph that takes tensors and leaves as many tensors on the stack as the model has
/// outputs.
struct TorchProgram {
  std::shared_ptr<torch::jit::Graph> graph;
  torch::jit::Code code;
  /// The module, when the graph still reads its attributes: it is then the first input.
  std::optional<c10::IValue> self;
  /// Inputs that the graph changes in place; they are given a copy.
  std::vector<bool> writes_input;
};

/// The forward graph of one file, with its weights as constants where it could be frozen.
struct TorchGraph {
  std::shared_ptr<torch::jit::Graph> graph;  ///< its first input is the module
  c10::IValue self;
  std::vector<bool> writes_input;  ///< of the others
};

/// Loads one model. Throws Error(kValue) when the file is no TorchScript, takes other inputs than
/// the node declares, or does more than compute and is not trusted to.
TorchGraph load_graph(const Model& node, const ModelFile& file, at::Device device);

/// Throws Error(kValue) when the graph has other outputs than the node declares.
TorchProgram make_program(const Model& node, const TorchGraph& graph);

/// The nodes of `part`, whose graphs are given, as one program with the ports of `signature`,
/// called "node/port". Throws Error(kValue) when a node keeps attributes or changes its inputs.
TorchProgram merge_programs(const Bundle& part, const std::vector<const TorchGraph*>& graphs,
                            const Model& signature);

}  // namespace leapp
