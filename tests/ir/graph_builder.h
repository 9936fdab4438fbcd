// Small graphs for tests.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace leapp::ir::testing {

inline const TensorType kPair{DType::kFloat32, {2}};
inline const TensorType kFull{DType::kFloat32, {2, 3}};
inline const TensorType kMask{DType::kBool, {2, 3}};

inline ValueId add_constant(Graph& graph, const std::string& name, std::vector<float> values) {
  auto owner = std::make_shared<std::vector<float>>(std::move(values));
  const auto* bytes = reinterpret_cast<const std::byte*>(owner->data());
  const auto size = static_cast<std::int64_t>(owner->size());
  return graph.add_constant(
      name, {std::shared_ptr<const std::byte>(std::move(owner), bytes), {DType::kFloat32, {size}}});
}

/// Returns an operation without results, by its schema: op_of("aten::sum.dim_IntList(self, dim)",
/// {..}).
inline Op op_of(const std::string& schema, std::vector<Argument> arguments) {
  Signature made{"", "", {}, {"Tensor"}};
  const std::size_t open = schema.find('(');
  const std::size_t dot = std::min(schema.find('.'), open);
  made.name = schema.substr(0, dot);
  if (dot < open) made.overload = schema.substr(dot + 1, open - dot - 1);
  std::string word;
  for (const char c : schema.substr(open + 1)) {
    if (c != ',' && c != ')') {
      if (c != ' ') word += c;
      continue;
    }
    if (!word.empty()) made.parameters.push_back({word, "Tensor"});
    word.clear();
  }
  return {std::make_shared<const Signature>(std::move(made)), std::move(arguments), {}, {}, ""};
}

/// Returns the op with a result of that type. The op is not in the graph's list of operations.
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

/// Appends an operator over tensors and returns its result.
inline ValueId add_op(Graph& graph, const std::string& name, const std::vector<ValueId>& inputs,
                      const TensorType& type) {
  std::string parameters;
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    parameters += (i > 0 ? ", x" : "x") + std::to_string(i);
    arguments.emplace_back(ValueRef{inputs[i]});
  }
  return add(graph, op_of(name + "(" + parameters + ")", std::move(arguments)), type);
}

/// Returns self[indices].
inline Op index_op(ValueId self, std::vector<ValueRef> indices) {
  return op_of("aten::index.Tensor(self, indices)", {ValueRef{self}, std::move(indices)});
}

/// Returns self[indices] = values, or += values.
inline Op put_op(ValueId self, std::vector<ValueRef> indices, ValueId values,
                 bool accumulate = false) {
  return op_of("aten::index_put(self, indices, values, accumulate)",
               {ValueRef{self}, std::move(indices), ValueRef{values}, accumulate});
}

/// Returns the operators' names in order, without their namespace: "where", "sum.dim_IntList".
inline std::vector<std::string> names(const std::vector<Op>& ops) {
  std::vector<std::string> result;
  for (const Op& op : ops) {
    result.push_back(op.signature->qualified_name().substr(std::strlen("aten::")));
  }
  return result;
}

}  // namespace leapp::ir::testing
