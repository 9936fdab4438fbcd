// Reads the arguments of one operation by their names in PyTorch's schema, for the exporters to
// ONNX and C++.
//
// If an argument has a different type, refuse() throws the exporter's error, which names the
// operation and the user's line. No value is rounded or truncated silently: integer() reads 2.0 as
// 2 and refuses 2.5. Reading a parameter that the operator does not have is a bug of LEAPP, unless
// the function states otherwise.
//
// A view: the graph and the operation must outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace leapp::ir {

class OpArguments {
 public:
  OpArguments(const Graph& graph, const Op& op) : graph_(graph), op_(op) {}
  virtual ~OpArguments() = default;

  const Graph& graph() const noexcept { return graph_; }
  const Op& op() const noexcept { return op_; }

  bool has(std::string_view parameter) const { return op_.has(parameter); }
  /// Returns true for None and for a parameter that this overload does not have.
  bool is_none(std::string_view parameter) const;
  /// Returns true for a tensor; false for None and for a Scalar.
  bool is_tensor(std::string_view parameter) const;

  /// Returns the value of a tensor argument; kNoValue for None.
  ValueId value_of(std::string_view parameter) const;
  /// Returns the values of a list of tensors; kNoValue for those that are None.
  std::vector<ValueId> values_of(std::string_view parameter) const;

  /// Reads an int, a bool, or a Scalar that is a whole number.
  std::int64_t integer(std::string_view parameter) const;
  std::int64_t integer(std::string_view parameter, std::int64_t if_none) const;
  /// Reads a float, or a Scalar that is not complex.
  double number(std::string_view parameter) const;
  double number(std::string_view parameter, double if_none) const;
  /// Reads a bool; false for None.
  bool flag(std::string_view parameter) const;
  /// Reads a string; empty for None.
  std::string text(std::string_view parameter) const;
  /// Reads int[]; a single int is a list of one, None an empty list.
  std::vector<std::int64_t> ints(std::string_view parameter) const;
  std::vector<double> numbers(std::string_view parameter) const;
  std::vector<bool> flags(std::string_view parameter) const;
  std::optional<DType> dtype(std::string_view parameter) const;
  /// Reads a dimension, and converts a negative one for a tensor with `rank` dimensions.
  std::int64_t dim(std::string_view parameter, std::int64_t rank) const;
  /// Reads several dimensions; all of them if the list is empty or None.
  std::vector<std::int64_t> dims(std::string_view parameter, std::int64_t rank) const;

  /// Returns PyTorch's type of a Scalar: bool, int64, float64 or complex128.
  DType scalar_type(std::string_view parameter) const;
  /// Returns PyTorch's type for an operation over these operands (tensors or Scalars).
  DType promoted(std::span<const std::string_view> parameters) const;
  DType promoted(std::initializer_list<std::string_view> parameters) const {
    return promoted(std::span(parameters.begin(), parameters.size()));
  }

 protected:
  OpArguments(const OpArguments&) = default;

  /// Throws. `reason` is a clause: "its argument 'dim' is 2.5, not an integer".
  [[noreturn]] virtual void refuse(const std::string& reason) const = 0;

 private:
  [[noreturn]] void refuse(std::string_view parameter, const std::string& what) const;

  const Graph& graph_;
  const Op& op_;
};

}  // namespace leapp::ir
