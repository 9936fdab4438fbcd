// Converts the built graph to an ONNX model: removes unused values and assigns names.
#pragma once

#include <string>
#include <vector>

#include "export/onnx/builder.h"
#include "ir/graph.h"
#include "onnx/model.h"

namespace leapp::onnx_export {

struct NamedOutput {
  std::string name;
  Value value;
};

/// Merges nodes for which ONNX has one operator: MatMul and Add, transposed operands of Gemm.
/// `outputs` are the values that must stay available.
void fuse(Builder& builder, const std::vector<NamedOutput>& outputs);

/// Returns the graph's nodes that `outputs` need, with readable unique names and the user's lines.
/// The nodes' sources are indices into the graph `source`; input values have the names of their
/// ports.
onnx::Graph finish(Builder& builder, const ir::Graph& source, const std::vector<Value>& inputs,
                   std::vector<NamedOutput> outputs);

}  // namespace leapp::onnx_export
