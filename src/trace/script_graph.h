// Converts a TorchScript graph to a pure graph.
//
// A file contains no shapes, so the graph runs once on example inputs, and the types of all results
// are recorded. This is complete only for a flat graph of pure operators, so everything else is
// refused.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/ir/ir.h>

#include <functional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "leapp/visibility.h"

namespace leapp::trace {

struct ScriptGraph {
  ir::Graph graph;                  ///< its ports are named in0, in1, .. and out0, out1, ..
  std::vector<at::Tensor> outputs;  ///< its results for the example
};

/// Converts `graph`, which takes tensors and returns them, also in a tuple or a list, with one
/// example per input. Devices that it names become the CPU. Operators
/// that `keep` rejects are decomposed if they are PyTorch's composites. Throws Error(kExport) with
/// the reason if that is impossible, or if the graph branches, writes, draws random numbers, or
/// converts tensors to numbers. Also throws the errors of its operators.
LEAPP_EXPORT ScriptGraph read_script(const torch::jit::Graph& graph,
                                     const std::vector<at::Tensor>& examples,
                                     const std::function<bool(const std::string&)>& keep);

}  // namespace leapp::trace
