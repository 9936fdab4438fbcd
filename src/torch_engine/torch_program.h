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
  /// The module, if the graph still reads its attributes; it is then the first input.
  std::optional<c10::IValue> self;
  /// Inputs that the graph changes in place; it gets copies of them.
  std::vector<bool> writes_input;
};

/// The forward graph of one file; its weights are constants if it could be frozen.
struct TorchGraph {
  std::shared_ptr<torch::jit::Graph> graph;  ///< its first input is the module
  c10::IValue self;
  std::vector<bool> writes_input;  ///< number of the other inputs
};

/// Loads one model, whose archive was checked. Throws Error(kValue) if the file is not TorchScript
/// or has different inputs than the node.
TorchGraph load_graph(const Model& node, const ModelFile& file, at::Device device);

/// Throws Error(kValue) if the outputs of the graph differ from those of the node.
TorchProgram make_program(const Model& node, const TorchGraph& graph);

/// Returns the nodes of `part`, whose graphs are given, as one program with the ports of
/// `signature`, named "node/port". Throws Error(kValue) if a node keeps attributes or changes its
/// inputs.
TorchProgram merge_programs(const Bundle& part, const std::vector<const TorchGraph*>& graphs,
                            const Model& signature);

}  // namespace leapp
