// Small graphs for tests.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace leapp::ir::testing {

inline std::shared_ptr<const Signature> signature(const std::string& name,
                                                  std::vector<std::string> parameters) {
  auto made = std::make_shared<Signature>();
  made->name = name;
  for (std::string& parameter : parameters) made->parameters.push_back({parameter, "Tensor"});
  made->returns = {"Tensor"};
  return made;
}

/// Appends an operator over tensors and returns its result.
inline ValueId add_op(Graph& graph, const std::string& name, const std::vector<ValueId>& inputs,
                      const TensorType& type) {
  Op op;
  std::vector<std::string> parameters;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    parameters.push_back("x" + std::to_string(i));
    op.arguments.emplace_back(ValueRef{inputs[i]});
  }
  op.signature = signature(name, std::move(parameters));
  const ValueId result = graph.add_result(type);
  op.results.push_back({false, {result}});
  graph.append(std::move(op));
  return result;
}

inline ValueId add_constant(Graph& graph, const std::string& name, std::vector<float> values) {
  auto owner = std::make_shared<std::vector<float>>(std::move(values));
  const auto* bytes = reinterpret_cast<const std::byte*>(owner->data());
  const auto size = static_cast<std::int64_t>(owner->size());
  return graph.add_constant(
      name, {std::shared_ptr<const std::byte>(std::move(owner), bytes), {DType::kFloat32, {size}}});
}

}  // namespace leapp::ir::testing
