// Computes nodes over constants while the graph is built.
#pragma once

#include <memory>

#include "export/onnx/builder.h"

namespace leapp::onnx_export {

/// Returns the node's value where every input is a constant and the operator is one of those we
/// compute ourselves; null otherwise. `node.outputs` is not looked at.
std::shared_ptr<const ir::Blob> fold(const Builder& builder, const BuiltNode& node,
                                     const Type& type);

}  // namespace leapp::onnx_export
