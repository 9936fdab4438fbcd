// One operation of the pure graph while code is generated for it: its arguments in, values out.
//
// Arguments are asked for by their name in PyTorch's schema. What cannot be said in C++ ends in
// fail(), which names the operation and the user's line.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "export/cpp/program.h"
#include "export/cpp/value.h"
#include "ir/graph.h"
#include "leapp/error.h"

namespace leapp::cpp_export {

/// Values of the graph, and what stands for them in the program.
class ValueMap {
 public:
  /// Makes a buffer of every input and output.
  ValueMap(const ir::Graph& graph, Program& program);

  const ir::Graph& graph() const noexcept { return graph_; }
  Program& program() const noexcept { return program_; }
  /// Returns the generated value; a constant is created on first use.
  Value get(ir::ValueId id);
  /// Sets a value. It is stored if it is read more than once or is an output; others are computed
  /// where they are read.
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

class OpContext {
 public:
  OpContext(ValueMap& values, const ir::Op& op) : values_(values), op_(op) {}

  const ir::Op& op() const noexcept { return op_; }
  const ir::Graph& graph() const noexcept { return values_.graph(); }
  Program& program() const noexcept { return values_.program(); }
  ValueMap& values() const noexcept { return values_; }
  /// Returns "policy.py:42 in act: aten::tanh".
  std::string origin() const;

  // ---- arguments ----
  bool has(std::string_view parameter) const { return op_.has(parameter); }
  /// Returns whether the argument is None, or a parameter that this overload does not have.
  bool is_none(std::string_view parameter) const;
  bool is_tensor(std::string_view parameter) const;
  Value tensor(std::string_view parameter);
  std::optional<Value> optional_tensor(std::string_view parameter);
  /// Returns a list of tensors; nothing for those that are None.
  std::vector<std::optional<Value>> optional_tensors(std::string_view parameter);
  std::vector<Value> tensors(std::string_view parameter);
  /// Returns the constant of a tensor, or null if it is not a constant.
  const ir::Blob* constant(std::string_view parameter) const;
  std::string constant_name(std::string_view parameter) const;
  std::int64_t integer(std::string_view parameter) const;
  std::int64_t integer(std::string_view parameter, std::int64_t if_none) const;
  double number(std::string_view parameter) const;
  double number(std::string_view parameter, double if_none) const;
  bool flag(std::string_view parameter) const;
  std::string text(std::string_view parameter) const;
  std::vector<std::int64_t> ints(std::string_view parameter) const;
  std::vector<double> numbers(std::string_view parameter) const;
  std::vector<bool> flags(std::string_view parameter) const;
  std::optional<DType> dtype(std::string_view parameter) const;
  /// Returns a dimension, from the front; `rank` counts the dimensions it may be one of.
  std::int64_t dim(std::string_view parameter, std::int64_t rank) const;
  /// Returns several dimensions; all of them if the list is empty or None.
  std::vector<std::int64_t> dims(std::string_view parameter, std::int64_t rank) const;
  /// Returns a tensor or a number as a value of that type.
  Value operand(std::string_view parameter, DType dtype);
  /// Returns PyTorch's type for an operation over these operands (tensors or numbers).
  DType promoted(const std::vector<std::string>& parameters) const;

  // ---- results ----
  std::size_t result_count() const noexcept { return op_.results.size(); }
  DType result_dtype(std::size_t i = 0) const { return graph().type(op_.result(i)).dtype; }
  const Shape& result_shape(std::size_t i = 0) const { return graph().type(op_.result(i)).shape; }
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
  void write(ir::ValueId id, Value value);

  ValueMap& values_;
  const ir::Op& op_;
};

}  // namespace leapp::cpp_export
