// What PyTorch's ONNX exporter for TorchScript lacks, in terms of what it has.
//
// Writes into slices and buffers, and casts, are operators of functionalisation's in a pure graph
// (aten::slice_scatter, aten::_to_copy, ..). That exporter is older than they are.
#pragma once

#include "ir/graph.h"
#include "leapp/visibility.h"

namespace leapp::torchscript {

/// The same graph without them.
LEAPP_EXPORT ir::Graph for_onnx_exporter(ir::Graph graph);

}  // namespace leapp::torchscript
