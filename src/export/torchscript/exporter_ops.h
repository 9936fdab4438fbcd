// Rewrites operators that PyTorch's TorchScript-to-ONNX exporter lacks, by operators that it has.
//
// In a pure graph, writes through views and casts are operators of functionalisation
// (aten::slice_scatter, aten::unfold_backward, aten::_to_copy, ..). That exporter is older, and
// supports some views only with static arguments. The positions of the elements are known here, so
// such an operator becomes an index into the flat tensor.
#pragma once

#include "ir/graph.h"
#include "leapp/visibility.h"

namespace leapp::torchscript {

/// Returns the same graph without these operators.
LEAPP_EXPORT ir::Graph for_onnx_exporter(ir::Graph graph);

}  // namespace leapp::torchscript
