#include "ir/graph.h"

#include <utility>

#include "base/check.h"

namespace leapp::ir {

std::string SourceLocation::to_string() const {
  if (!known()) return "";
  std::string text = file + ":" + std::to_string(line);
  if (!function.empty()) text += " in " + function;
  return text;
}

std::string Signature::qualified_name() const {
  return overload.empty() ? name : name + "." + overload;
}

int Signature::find(std::string_view parameter) const noexcept {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == parameter) return static_cast<int>(i);
  }
  return -1;
}

const Argument& Op::argument(std::string_view parameter) const {
  const int i = signature->find(parameter);
  demand(i >= 0, "a parameter was read that the operator does not have");
  return arguments.at(static_cast<std::size_t>(i));
}

ValueId Graph::add_input(std::string name, TensorType type) {
  const auto id = static_cast<ValueId>(values_.size());
  values_.push_back({ValueKind::kInput, std::move(type), std::move(name),
                     static_cast<std::int32_t>(inputs_.size())});
  inputs_.push_back(id);
  return id;
}

ValueId Graph::add_constant(std::string name, Blob blob) {
  const auto id = static_cast<ValueId>(values_.size());
  values_.push_back(
      {ValueKind::kConstant, blob.type, std::move(name), static_cast<std::int32_t>(blobs_.size())});
  blobs_.push_back(std::move(blob));
  return id;
}

ValueId Graph::add_result(TensorType type) {
  const auto id = static_cast<ValueId>(values_.size());
  values_.push_back({ValueKind::kResult, std::move(type), "", -1});
  return id;
}

void Graph::append(Op op) {
  for_each_result(op,
                  [&](ValueId id) { value(id).index = static_cast<std::int32_t>(ops_.size()); });
  ops_.push_back(std::move(op));
}

void Graph::add_output(std::string name, ValueId value) {
  outputs_.push_back({std::move(name), value});
}

const Blob& Graph::blob(ValueId id) const {
  const Value& constant = value(id);
  demand(constant.kind == ValueKind::kConstant,
         "bytes requested of a value that is not a constant");
  return blobs_.at(static_cast<std::size_t>(constant.index));
}

void Graph::set_ops(std::vector<Op> ops) {
  ops_.clear();
  ops_.reserve(ops.size());
  for (Op& op : ops) append(std::move(op));
}

}  // namespace leapp::ir
