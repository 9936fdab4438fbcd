// Builds an ONNX graph node by node. Every value has a known type, equal nodes are created once,
// and nodes over small constants are computed immediately, so converters can be written for
// clarity.
//
// Not thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "export/onnx/value.h"
#include "ir/graph.h"
#include "onnx/model.h"

namespace leapp::onnx_export {

/// A named attribute of a node. Numbers need their exact type: 1 is an int, 1.0f a float.
struct Attr {
  std::string name;
  onnx::Attribute::Value value;
};
using Attrs = std::vector<Attr>;

/// The body of a loop: its own inputs and outputs, and its nodes by index, in order.
struct Body {
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> outputs;
  std::vector<std::int32_t> nodes;
};

/// A node under construction; inputs and outputs are ids of values, -1 for omitted ones.
struct BuiltNode {
  std::string op_type;
  std::string domain;
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> outputs;
  Attrs attributes;
  std::shared_ptr<const Body> body;  ///< body of a loop; null for all others
  std::int32_t source = -1;          ///< the set_source() that was active at its creation
  /// Made by emit_custom(), so its inputs and attributes may be of any number and kind.
  bool is_custom = false;

  /// Returns whether this is that operator of ONNX's own domain, with the inputs and attributes
  /// that our functions give it. Rewrites must ask this and not compare the name.
  bool is(std::string_view op) const noexcept { return !is_custom && op_type == op; }
};

struct BuiltValue {
  Type type;
  std::string name;            ///< name of a port or weight; empty for others
  std::int32_t producer = -1;  ///< index of its node, -1 for inputs and constants
  std::shared_ptr<const ir::Blob> constant;
};

class Builder {
 public:
  explicit Builder(int opset) : opset_(opset) {}
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  int opset() const noexcept { return opset_; }

  Value input(std::string name, Type type);
  /// Returns a constant that shares the blob's bytes. Equal small ones are created once.
  Value constant(ir::Blob blob, std::string name = "");

  /// Adds a node with one output of the given type, or finds an equal one.
  Value emit(std::string_view op_type, std::span<const Value> inputs, Attrs attributes, Type type);
  Value emit(std::string_view op_type, std::initializer_list<Value> inputs, Attrs attributes,
             Type type) {
    return emit(op_type, std::span(inputs.begin(), inputs.size()), std::move(attributes),
                std::move(type));
  }
  /// Adds a node with several outputs. Types of unused outputs may be given too.
  std::vector<Value> emit_many(std::string_view op_type, std::span<const Value> inputs,
                               Attrs attributes, std::vector<Type> types);
  std::vector<Value> emit_many(std::string_view op_type, std::initializer_list<Value> inputs,
                               Attrs attributes, std::vector<Type> types) {
    return emit_many(op_type, std::span(inputs.begin(), inputs.size()), std::move(attributes),
                     std::move(types));
  }
  /// Returns a node outside of ONNX's own domain, or one that must not be merged with an equal one.
  std::vector<Value> emit_custom(std::string_view domain, std::string_view op_type,
                                 std::span<const Value> inputs, Attrs attributes,
                                 std::vector<Type> types);

  /// Records the version of a domain whose nodes are used.
  void use_domain(const std::string& domain, std::int64_t version) { domains_[domain] = version; }
  const std::map<std::string, std::int64_t>& domains() const noexcept { return domains_; }

  /// The body of a loop: maps the iteration number and the previous state to the next state.
  using Round = std::function<std::vector<Value>(Value round, const std::vector<Value>& state)>;
  /// Runs `round` `count` times (a 0-d int64) and returns the last state. It is built once; the
  /// state keeps its types. Its values must not be used outside the loop.
  std::vector<Value> loop(Value rounds, const std::vector<Value>& state, const Round& round);

  /// Assigns all nodes created from now on to this operation of the IR graph.
  void set_source(std::int32_t source) noexcept { source_ = source; }

  const BuiltValue& value(std::int32_t id) const { return values_[static_cast<std::size_t>(id)]; }
  const BuiltNode& node(std::int32_t index) const {
    return nodes_[static_cast<std::size_t>(index)];
  }
  /// Returns the node that computes the value; null for inputs and constants.
  const BuiltNode* producer(Value value) const;
  /// Returns all nodes, including those inside loops.
  const std::deque<BuiltNode>& nodes() const noexcept { return nodes_; }
  std::deque<BuiltNode>& nodes() noexcept { return nodes_; }
  /// Indices of the nodes outside of loops, in order.
  const std::vector<std::int32_t>& order() const noexcept { return order_; }
  std::size_t value_count() const noexcept { return values_.size(); }

 private:
  Value add_value(BuiltValue value);
  std::vector<Value> append(BuiltNode node, std::vector<Type> types);

  int opset_;
  std::int32_t source_ = -1;
  std::map<std::string, std::int64_t> domains_;
  std::deque<BuiltValue> values_;
  std::deque<BuiltNode> nodes_;
  std::vector<std::int32_t> order_;  // of the graph, or of the loop being built
  std::vector<std::string> keys_in_order_;
  std::unordered_map<std::string, std::vector<std::int32_t>> known_nodes_;  // key -> outputs
  std::unordered_map<std::string, std::int32_t> known_constants_;
};

}  // namespace leapp::onnx_export
