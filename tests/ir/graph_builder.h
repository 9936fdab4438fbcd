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

/// An operation with these parameters and arguments, without results.
inline Op op_of(const std::string& name, const std::string& overload,
                std::vector<std::string> parameters, std::vector<Argument> arguments) {
  Signature made = *signature(name, std::move(parameters));
  made.overload = overload;
  return {std::make_shared<const Signature>(std::move(made)), std::move(arguments), {}, {}, ""};
}

/// The op with a result of that type, which is not in the graph's list of operations.
inline Op with_result(Graph& graph, Op op, const TensorType& type) {
  op.results.push_back({false, {graph.add_result(type)}});
  return op;
}

/// Appends the op and returns its result.
inline ValueId add(Graph& graph, Op op, const TensorType& type) {
  op = with_result(graph, std::move(op), type);
  const ValueId result = op.result();
  graph.append(std::move(op));
  return result;
}

/// self[indices]
inline Op index_op(ValueId self, std::vector<ValueRef> indices) {
  return op_of("aten::index", "Tensor", {"self", "indices"}, {ValueRef{self}, std::move(indices)});
}

/// self[indices] = values, or += values
inline Op put_op(ValueId self, std::vector<ValueRef> indices, ValueId values,
                 bool accumulate = false) {
  return op_of("aten::index_put", "", {"self", "indices", "values", "accumulate"},
               {ValueRef{self}, std::move(indices), ValueRef{values}, accumulate});
}

/// The operators' names in order, without their namespace: "where", "sum.dim_IntList".
inline std::vector<std::string> names(const std::vector<Op>& ops) {
  std::vector<std::string> result;
  for (const Op& op : ops) {
    result.push_back(op.signature->qualified_name().substr(std::strlen("aten::")));
  }
  return result;
}

}  // namespace leapp::ir::testing
