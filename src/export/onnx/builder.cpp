#include "export/onnx/builder.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "export/onnx/blob.h"
#include "export/onnx/fold.h"

namespace leapp::onnx_export {
namespace {

// Constants up to this size are compared by their bytes, larger ones by address.
constexpr std::size_t kCompareBytes = 4096;

void append_raw(std::string& key, const void* data, std::size_t size) {
  key.append(static_cast<const char*>(data), size);
}

template <typename T>
void append_number(std::string& key, T value) {
  append_raw(key, &value, sizeof value);
}

std::string key_of(const ir::Blob& blob) {
  std::string key;
  append_number(key, blob.type.dtype);
  for (const std::int64_t size : blob.type.shape) append_number(key, size);
  key += '|';
  if (blob.byte_size() <= kCompareBytes) {
    append_raw(key, blob.data.get(), blob.byte_size());
  } else {
    append_number(key, blob.data.get());
  }
  return key;
}

/// Appends the attribute's value; returns false for types that are not worth comparing.
bool append_attribute(std::string& key, const onnx::Attribute::Value& value) {
  return std::visit(
      [&](const auto& held) {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::int64_t>) {
          append_number(key, held);
          return true;
        } else if constexpr (std::is_same_v<T, std::string>) {
          key += held;
          return true;
        } else if constexpr (std::is_same_v<T, std::vector<float>> ||
                             std::is_same_v<T, std::vector<std::int64_t>>) {
          append_raw(key, held.data(), held.size() * sizeof(held[0]));
          return true;
        } else {
          return false;
        }
      },
      value);
}

/// Returns a string that is equal for equal nodes; empty if the node must not be merged.
std::string key_of(const BuiltNode& node) {
  std::string key = node.op_type;
  key += '|';
  for (const std::int32_t id : node.inputs) append_number(key, id);
  for (const Attr& attribute : node.attributes) {
    key += '|';
    key += attribute.name;
    append_number(key, attribute.value.index());
    if (!append_attribute(key, attribute.value)) return {};
  }
  append_number(key, node.outputs.size());
  return key;
}

}  // namespace

const Type& Value::type() const {
  return builder_->value(id_).type;
}

std::int64_t Value::size(std::int64_t dim) const {
  return shape().at(static_cast<std::size_t>(dim < 0 ? dim + rank() : dim));
}

bool Value::is_constant() const {
  return builder_->value(id_).constant != nullptr;
}

Value Builder::add_value(BuiltValue value) {
  values_.push_back(std::move(value));
  return {this, static_cast<std::int32_t>(values_.size() - 1)};
}

Value Builder::input(std::string name, Type type) {
  return add_value({.type = std::move(type), .name = std::move(name), .constant = nullptr});
}

Value Builder::constant(ir::Blob blob, std::string name) {
  const auto [found, is_new] = known_constants_.try_emplace(key_of(blob), -1);
  if (!is_new) {
    BuiltValue& known = values_[static_cast<std::size_t>(found->second)];
    if (known.name.empty()) known.name = std::move(name);
    return {this, found->second};
  }
  BuiltValue value{.type = {blob.type.dtype, blob.type.shape},
                   .name = std::move(name),
                   .constant = std::make_shared<const ir::Blob>(std::move(blob))};
  found->second = static_cast<std::int32_t>(values_.size());
  return add_value(std::move(value));
}

std::vector<Value> Builder::append(BuiltNode node, std::vector<Type> types) {
  std::vector<Value> outputs;
  const auto index = static_cast<std::int32_t>(nodes_.size());
  for (Type& type : types) {
    outputs.push_back(
        add_value({.type = std::move(type), .name = {}, .producer = index, .constant = nullptr}));
    node.outputs.push_back(outputs.back().id());
  }
  node.source = source_;
  nodes_.push_back(std::move(node));
  order_.push_back(index);
  return outputs;
}

std::vector<Value> Builder::emit_custom(std::string_view domain, std::string_view op_type,
                                        std::span<const Value> inputs, Attrs attributes,
                                        std::vector<Type> types) {
  BuiltNode node;
  node.op_type = op_type;
  node.domain = domain;
  node.is_custom = true;
  for (const Value& input : inputs) node.inputs.push_back(input.id());
  node.attributes = std::move(attributes);
  return append(std::move(node), std::move(types));
}

std::vector<Value> Builder::emit_many(std::string_view op_type, std::span<const Value> inputs,
                                      Attrs attributes, std::vector<Type> types) {
  // Tensors without elements need no computation, and engines fail on some of them.
  if (std::all_of(types.begin(), types.end(),
                  [](const Type& type) { return element_count(type.shape) == 0; })) {
    std::vector<Value> empty;
    for (Type& type : types) {
      empty.push_back(constant(from_ints(type.dtype, std::move(type.shape), {})));
    }
    return empty;
  }
  BuiltNode node;
  node.op_type = op_type;
  for (const Value& input : inputs) node.inputs.push_back(input.id());
  while (!node.inputs.empty() && node.inputs.back() < 0) node.inputs.pop_back();
  node.attributes = std::move(attributes);
  node.outputs.resize(types.size());
  std::string key = key_of(node);
  node.outputs.clear();
  if (!key.empty()) {
    if (const auto known = known_nodes_.find(key); known != known_nodes_.end()) {
      std::vector<Value> outputs;
      for (const std::int32_t id : known->second) outputs.emplace_back(this, id);
      demand(outputs.size() == types.size() && outputs[0].type() == types[0],
             "two equal ONNX nodes with different types");
      return outputs;
    }
  }
  if (types.size() == 1) {
    if (std::shared_ptr<const ir::Blob> folded = fold(*this, node, types[0])) {
      return {constant(*folded)};
    }
  }
  std::vector<Value> outputs = append(std::move(node), std::move(types));
  if (!key.empty()) {
    std::vector<std::int32_t>& ids = known_nodes_[key];
    for (const Value& output : outputs) ids.push_back(output.id());
    keys_in_order_.push_back(std::move(key));
  }
  return outputs;
}

std::vector<Value> Builder::loop(Value rounds, const std::vector<Value>& state,
                                 const Round& round) {
  auto body = std::make_shared<Body>();
  std::vector<std::int32_t> outside = std::exchange(order_, {});
  const std::size_t known_before = keys_in_order_.size();

  const Value number = input("", {DType::kInt64, {}});
  const Value go_on = input("", {DType::kBool, {}});
  body->inputs = {number.id(), go_on.id()};
  std::vector<Value> inner;
  std::vector<Type> types;
  for (const Value& value : state) {
    inner.push_back(input("", value.type()));
    body->inputs.push_back(inner.back().id());
    types.push_back(value.type());
  }
  std::vector<Value> results = round(number, inner);
  demand(results.size() == state.size(), "a loop whose round returns another state than it gets");
  results.insert(results.begin(), go_on);
  for (Value& result : results) {
    // An output of the body must come from a node of the body.
    result = emit_custom("", "Identity", std::span(&result, 1), {}, {result.type()})[0];
    body->outputs.push_back(result.id());
  }
  body->nodes = std::exchange(order_, std::move(outside));
  // Nodes inside the subgraph must not be reused outside of it.
  for (std::size_t i = known_before; i < keys_in_order_.size(); ++i) {
    known_nodes_.erase(keys_in_order_[i]);
  }
  keys_in_order_.resize(known_before);

  BuiltNode node;
  node.op_type = "Loop";
  node.inputs = {rounds.id(), -1};
  for (const Value& value : state) node.inputs.push_back(value.id());
  node.body = std::move(body);
  return append(std::move(node), std::move(types));
}

Value Builder::emit(std::string_view op_type, std::span<const Value> inputs, Attrs attributes,
                    Type type) {
  std::vector<Type> types;
  types.push_back(std::move(type));
  return emit_many(op_type, inputs, std::move(attributes), std::move(types))[0];
}

const BuiltNode* Builder::producer(Value value) const {
  const std::int32_t index = this->value(value.id()).producer;
  return index < 0 ? nullptr : &nodes_[static_cast<std::size_t>(index)];
}

}  // namespace leapp::onnx_export
