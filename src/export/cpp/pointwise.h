// Element-wise operators by the text of one element.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "export/cpp/op_context.h"

namespace leapp::cpp_export {

/// The type to which operands are converted before the operator: the result's type, or their common
/// promoted type if the result's type is unrelated (comparisons).
enum class RowType { kResult, kPromoted };

struct Row {
  std::vector<std::string> names;          ///< without "aten::"
  std::vector<std::string_view> operands;  ///< parameters, tensors or numbers
  std::string text;                        ///< "$0" is the first operand
  std::string kernel;                      ///< the file of kernels/ that it needs; may be empty
  RowType type = RowType::kResult;
};

/// Returns the operator's first result, from the text of one element.
Value apply(OpContext& context, const std::string& text, std::vector<Value> operands,
            const std::string& kernel);

/// Returns a value with the shape to which its operands broadcast. They are read as often as
/// necessary.
Value combine(const std::string& text, std::vector<Value> operands, DType dtype);

}  // namespace leapp::cpp_export
