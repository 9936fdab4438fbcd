// Converts one operation of the IR: reads its arguments and sets ONNX values.
//
// Arguments are read by their name in PyTorch's schema. If the converter cannot express the
// operation exactly, fail() throws an error that names the operation and the user's line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "export/onnx/builder.h"
#include "export/onnx/ops.h"
#include "ir/graph.h"
#include "ir/op_arguments.h"
#include "leapp/error.h"

namespace leapp::onnx_export {

/// Maps values of the IR graph to ONNX values. A complex value is stored as a real one with a last
/// dimension of size two.
class ValueMap {
 public:
  ValueMap(const ir::Graph& graph, Builder& builder);

  const ir::Graph& graph() const noexcept { return graph_; }
  Builder& builder() const noexcept { return builder_; }
  Value get(ir::ValueId id);
  void set(ir::ValueId id, Value value);
  bool is_set(ir::ValueId id) const { return values_.at(static_cast<std::size_t>(id)).defined(); }
  /// Returns whether an operation or an output reads the value.
  bool is_used(ir::ValueId id) const { return used_.at(static_cast<std::size_t>(id)); }

 private:
  const ir::Graph& graph_;
  Builder& builder_;
  std::vector<Value> values_;
  std::vector<bool> used_;
};

/// The part of complex values that a converter for real values sees.
enum class Part { kWhole, kReal, kImaginary };

/// Error of fail(), which already names its operation.
class OpError : public Error {
 public:
  using Error::Error;
};

class OpContext : public ir::OpArguments {
 public:
  OpContext(ValueMap& values, const ir::Op& op, Part part = Part::kWhole)
      : OpArguments(values.graph(), op), values_(values), part_(part) {}

  Builder& builder() const noexcept { return values_.builder(); }
  int opset() const noexcept { return builder().opset(); }

  // ---- arguments, in addition to those that ir::OpArguments reads ----
  /// Returns a tensor. Fails for complex ones, which only special converters support.
  Value tensor(std::string_view parameter);
  /// Undefined if None.
  Value optional_tensor(std::string_view parameter);
  /// Returns a list of tensors; items that are None are undefined.
  std::vector<Value> tensors(std::string_view parameter);
  /// Returns any tensor with real and imaginary part in a last dimension of size two.
  Value complex_tensor(std::string_view parameter);
  bool is_complex_tensor(std::string_view parameter) const;
  /// Returns a Scalar as a 0-d constant of the given type, exact for every integer.
  Value scalar_argument(std::string_view parameter, DType dtype);
  /// Returns a tensor, or a Scalar as a 0-d constant of PyTorch's type for it.
  Value operand(std::string_view parameter);

  // ---- results ----
  std::size_t result_count() const noexcept { return op().results.size(); }
  /// Returns the element type and shape of a result in PyTorch.
  Type result_type(std::size_t i = 0) const;
  DType result_dtype(std::size_t i = 0) const { return result_type(i).dtype; }
  const Shape& result_shape(std::size_t i = 0) const;
  /// Returns whether anything reads the result.
  bool is_used(std::size_t i) const;
  /// Returns the shape of any value of the graph in PyTorch.
  const Shape& value_shape(ir::ValueId id) const { return values_.graph().type(id).shape; }
  /// Returns whether set() was called for the result.
  bool is_set(std::size_t i) const;
  /// Sets the value of a result, which must have exactly PyTorch's type.
  void set(std::size_t i, Value value);
  void set(Value value) { set(0, value); }
  void set_list(std::size_t i, const std::vector<Value>& values);
  /// Sets a complex result with real and imaginary part in a last dimension of size two.
  void set_complex(std::size_t i, Value value);

  // ---- errors ----
  /// "aten::foo (policy.py:42 in act) cannot be exported to ONNX: <reason>. <advice>"
  [[noreturn]] void fail(const std::string& reason, const std::string& advice = "") const {
    fail(Code::kNoOnnx, reason, advice);
  }
  [[noreturn]] void fail(Code code, const std::string& reason, const std::string& advice) const;
  void need(bool condition, const std::string& reason, const std::string& advice = "") const {
    if (!condition) fail(reason, advice);
  }
  void need_opset(int version, const std::string& what) const;

  // ---- complex values ----
  /// Returns whether an operand or a result is complex.
  bool touches_complex() const;
  /// Returns the context of the same operation on the real or imaginary parts only.
  OpContext part(Part part) const { return {values_, op(), part}; }
  /// Sets the parts of a value of the IR; a real value has no imaginary part.
  void set_parts(ir::ValueId id, Value real, Value imaginary);
  /// Returns the values that the converter set, by value of the IR; stored only while it sees one
  /// part.
  const std::unordered_map<ir::ValueId, Value>& parts() const noexcept { return parts_; }

 private:
  [[noreturn]] void refuse(const std::string& reason) const override { fail(reason); }
  /// Returns the value of a required tensor.
  ir::ValueId given(std::string_view parameter) const;
  Value read(ir::ValueId id);
  void write(ir::ValueId id, Value value);

  ValueMap& values_;
  Part part_;
  std::unordered_map<ir::ValueId, Value> parts_;
};

}  // namespace leapp::onnx_export
