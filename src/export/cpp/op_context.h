// Generates code for one operation of the pure graph: reads its arguments and creates values.
//
// Arguments are read by their name in PyTorch's schema. For an unsupported operation, fail() throws
// an error that names the operation and the user's line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "export/cpp/program.h"
#include "export/cpp/value.h"
#include "ir/graph.h"
#include "ir/op_arguments.h"
#include "leapp/error.h"

namespace leapp::cpp_export {

/// The generated values for the values of the graph.
class ValueMap {
 public:
  /// Creates a buffer for every input and output.
  ValueMap(const ir::Graph& graph, Program& program);

  const ir::Graph& graph() const noexcept { return graph_; }
  Program& program() const noexcept { return program_; }
  /// Returns the generated value; a constant is created on first use.
  Value get(ir::ValueId id);
  /// Sets a value. Stores it in memory if it is read more than once or is an output; others are
  /// computed where they are read.
  void set(ir::ValueId id, Value value);
  bool is_used(ir::ValueId id) const { return uses_.at(static_cast<std::size_t>(id)) > 0; }
  int uses(ir::ValueId id) const { return uses_.at(static_cast<std::size_t>(id)); }
  /// Writes the outputs that are not written yet.
  void finish();

 private:
  Value constant(ir::ValueId id);

  const ir::Graph& graph_;
  Program& program_;
  std::vector<std::optional<Value>> values_;
  std::vector<int> uses_;
  std::vector<BufferId> outputs_;
  std::vector<bool> written_;
};

class OpContext : public ir::OpArguments {
 public:
  OpContext(ValueMap& values, const ir::Op& op)
      : OpArguments(values.graph(), op), values_(values) {}

  Program& program() const noexcept { return values_.program(); }
  ValueMap& values() const noexcept { return values_; }
  /// Returns "policy.py:42 in act: aten::tanh".
  std::string origin() const;

  // ---- arguments, in addition to those that ir::OpArguments reads ----
  Value tensor(std::string_view parameter);
  std::optional<Value> optional_tensor(std::string_view parameter);
  /// Returns a list of tensors; empty items for those that are None.
  std::vector<std::optional<Value>> optional_tensors(std::string_view parameter);
  std::vector<Value> tensors(std::string_view parameter);
  /// Returns the constant of a tensor, or null if it is not a constant.
  const ir::Blob* constant(std::string_view parameter) const;
  std::string constant_name(std::string_view parameter) const;
  /// Returns a tensor or a number as a value of that type.
  Value operand(std::string_view parameter, DType dtype);

  // ---- results ----
  std::size_t result_count() const noexcept { return op().results.size(); }
  DType result_dtype(std::size_t i = 0) const { return graph().type(op().result(i)).dtype; }
  const Shape& result_shape(std::size_t i = 0) const { return graph().type(op().result(i)).shape; }
  bool is_used(std::size_t i) const;
  void set(std::size_t i, Value value);
  void set(Value value) { set(0, std::move(value)); }
  void set_list(std::size_t i, std::vector<Value> values);

  // ---- errors ----
  /// "aten::foo (policy.py:42 in act) cannot be exported to C++: <reason>. <advice>"
  [[noreturn]] void fail(const std::string& reason) const;
  void need(bool condition, const std::string& reason) const {
    if (!condition) fail(reason);
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const override { fail(reason); }
  Value read(ir::ValueId id);
  void write(ir::ValueId id, Value value);

  ValueMap& values_;
};

}  // namespace leapp::cpp_export
