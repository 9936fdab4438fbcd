// Loops that reduce many elements to one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "export/cpp/op_context.h"

namespace leapp::cpp_export {

/// One pass over the reduced elements.
struct Reduction {
  DType dtype = DType::kFloat32;  ///< type of the result
  /// Returns statements before the pass.
  std::vector<std::string> begin;
  /// Returns statements for one element, given its text and its index in the pass.
  std::function<std::vector<std::string>(const std::string& element, const std::string& place)>
      step;
  /// Returns the text of the result, after the statements.
  std::string result;
};

/// Reduces dimensions, which keep the size 1. Reads each element once, in order.
Value reduced(Program& program, const Value& value, const std::vector<std::int64_t>& dims,
              const Reduction& reduction);

/// Returns common reductions. `mean_of` needs a floating-point type.
Value sum_of(Program& program, const Value& value, const std::vector<std::int64_t>& dims);
Value max_of(Program& program, const Value& value, const std::vector<std::int64_t>& dims);
/// Returns argmax over the reduced dimensions; NaN compares greater than everything.
Value argmax(Program& program, const Value& value, const std::vector<std::int64_t>& dims);
Value mean_of(Program& program, const Value& value, const std::vector<std::int64_t>& dims);

/// Returns the number of elements that are reduced to one.
std::int64_t reduced_count(const Shape& shape, const std::vector<std::int64_t>& dims);

}  // namespace leapp::cpp_export
