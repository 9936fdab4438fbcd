// Computes nodes over constants while the graph is built.
#pragma once

#include <memory>

#include "export/onnx/builder.h"

namespace leapp::onnx_export {

/// Returns the node's value if every input is a constant and LEAPP computes the operator itself;
/// otherwise null. `node.outputs` is ignored.
std::shared_ptr<const ir::Blob> fold(const Builder& builder, const BuiltNode& node,
                                     const Type& type);

}  // namespace leapp::onnx_export
