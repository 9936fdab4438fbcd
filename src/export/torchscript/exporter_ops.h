// Operators that PyTorch's TorchScript-to-ONNX exporter lacks, rewritten as operators it has.
//
// Writes through views, and casts, are operators of functionalisation's in a pure graph
// (aten::slice_scatter, aten::unfold_backward, aten::_to_copy, ..). That exporter is older than
// they are, and some views it takes for static ones only. Where elements come from and go to is
// known here, so it becomes an index into the flat tensor.
#pragma once

#include "ir/graph.h"
#include "leapp/visibility.h"

namespace leapp::torchscript {

/// Does the same graph without them.
LEAPP_EXPORT ir::Graph for_onnx_exporter(ir::Graph graph);

}  // namespace leapp::torchscript
