// Small IR graphs for tests, built call by call.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "onnx/model.h"

namespace leapp::testing {

class GraphOf {
 public:
  ir::ValueId input(const std::string& name, Shape shape, DType dtype = DType::kFloat32) {
    return graph.add_input(name, {dtype, std::move(shape), "cpu"});
  }

  ir::ValueId weight(const std::string& name, Shape shape, const std::vector<float>& values) {
    const onnx::Bytes bytes = onnx::Bytes::copy_of(values.data(), values.size() * sizeof(float));
    return graph.add_constant(name, {bytes.data, {DType::kFloat32, std::move(shape), "cpu"}});
  }

  using Named = std::pair<std::string, ir::Argument>;

  /// Appends one call with one result.
  ir::ValueId call(const std::string& qualified_name, const std::vector<Named>& arguments,
                   Shape shape, DType dtype = DType::kFloat32) {
    auto signature = std::make_shared<ir::Signature>();
    const std::size_t dot = qualified_name.find('.');
    signature->name = qualified_name.substr(0, dot);
    if (dot != std::string::npos) signature->overload = qualified_name.substr(dot + 1);
    signature->returns = {"Tensor"};
    ir::Op op;
    for (const auto& [name, value] : arguments) {
      signature->parameters.push_back(
          {name, std::holds_alternative<ir::ValueRef>(value) ? "Tensor" : "Scalar"});
      op.arguments.push_back(value);
    }
    op.signature = std::move(signature);
    op.source = {"policy.py", 42, "act"};
    op.module_path = module_path;
    const ir::ValueId result = graph.add_result({dtype, std::move(shape), "cpu"});
    op.results = {{false, {result}}};
    graph.append(std::move(op));
    return result;
  }

  ir::Graph graph;
  std::string module_path;
};

inline ir::Argument ref(ir::ValueId id) {
  return ir::ValueRef{id};
}

/// Returns the operator types of a graph's nodes, in order.
inline std::vector<std::string> op_types(const onnx::Graph& graph) {
  std::vector<std::string> types;
  for (const onnx::Node& node : graph.nodes) types.push_back(node.op_type);
  return types;
}

}  // namespace leapp::testing
