// A TorchScript graph as a pure graph.
//
// A file states no shapes, so the graph is run once: its operators on example inputs, one after the
// other, each noted with the types it was seen to have. That tells the whole truth of a flat graph
// of pure operators, and of no other, so everything else is refused.
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
  ir::Graph graph;                  ///< its ports are called in0, in1, .. and out0, out1, ..
  std::vector<at::Tensor> outputs;  ///< what the example gave
};

/// Reads `graph`, which takes and returns tensors only, on one example per input. Operators whose
/// name `keep` refuses are decomposed as far as PyTorch's composites go. Throws Error(kExport)
/// with the reason where that does not help, where the graph branches, writes, draws random
/// numbers, or takes numbers out of tensors; and whatever its operators throw.
LEAPP_EXPORT ScriptGraph read_script(const torch::jit::Graph& graph,
                                     const std::vector<at::Tensor>& examples,
                                     const std::function<bool(const std::string&)>& keep);

}  // namespace leapp::trace
