// A small model that uses every member of the structs.
#pragma once

#include <string>
#include <vector>

#include "onnx/model.h"

namespace leapp::onnx::testing {

inline Tensor float_tensor(const std::string& name, const std::vector<float>& values) {
  Tensor tensor;
  tensor.name = name;
  tensor.type = ElementType::kFloat;
  tensor.dims = {static_cast<std::int64_t>(values.size())};
  tensor.raw = Bytes::copy_of(values.data(), values.size() * sizeof(float));
  return tensor;
}

inline ValueInfo info(const std::string& name, std::vector<Dimension> shape) {
  ValueInfo info;
  info.name = name;
  info.type = ElementType::kFloat;
  info.shape = std::move(shape);
  return info;
}

inline Model sample_model() {
  auto inner = std::make_shared<Graph>();
  inner->name = "then";
  inner->outputs.push_back(info("w", {std::int64_t{2}}));
  Node node;
  node.op_type = "Custom";
  node.domain = "test";
  node.name = "first";
  node.inputs = {"x", "", "w"};
  node.outputs = {"y"};
  node.attributes = {
      {"a", 0.5F, {}},
      {"b", std::int64_t{-3}, {}},
      {"c", std::string("text"), {}},
      {"d", float_tensor("inside", {1, 2, 3}), {}},
      {"e", std::shared_ptr<const Graph>(inner), {}},
      {"f", std::vector<float>{1, -2}, {}},
      {"g", std::vector<std::int64_t>{1, -2, std::int64_t{1} << 40}, {}},
      {"h", std::vector<std::string>{"p", ""}, {}},
  };
  node.doc_string = "policy.py:3 in act";
  node.metadata = {{"leapp.op", "aten::custom"}};
  Model model;
  model.ir_version = 9;
  model.opsets = {{"", 20}, {"test", 1}};
  model.producer_name = "leapp";
  model.graph.name = "sample";
  model.graph.nodes = {node};
  model.graph.initializers = {float_tensor("w", {4, 5})};
  model.graph.inputs = {info("x", {std::int64_t{1}, std::string("batch"), std::string()})};
  model.graph.outputs = {info("y", {})};
  model.metadata = {{"key", "value"}};
  return model;
}

}  // namespace leapp::onnx::testing
