#include "ir/promote.h"

#include <algorithm>
#include <array>
#include <optional>

namespace leapp::ir {
namespace {

int category(DType dtype) {
  if (is_complex(dtype)) return 3;
  if (is_floating_point(dtype)) return 2;
  return is_integer(dtype) ? 1 : 0;
}

bool is_unsigned(DType dtype) {
  return dtype == DType::kUInt8 || dtype == DType::kUInt16 || dtype == DType::kUInt32 ||
         dtype == DType::kUInt64;
}

DType promote_integers(DType a, DType b) {
  if (is_unsigned(a) == is_unsigned(b)) return size_of(a) >= size_of(b) ? a : b;
  const DType without_sign = is_unsigned(a) ? a : b;
  const DType with_sign = is_unsigned(a) ? b : a;
  if (size_of(with_sign) > size_of(without_sign)) return with_sign;
  constexpr std::array kSigned = {DType::kInt16, DType::kInt32, DType::kInt64};
  for (const DType candidate : kSigned) {
    if (size_of(candidate) > size_of(without_sign)) return candidate;
  }
  return DType::kInt64;
}

DType promote_floats(DType a, DType b) {
  if (size_of(a) != size_of(b)) return size_of(a) > size_of(b) ? a : b;
  return DType::kFloat32;  // float16 with bfloat16
}

DType complex_for(DType real) {
  return real == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
}

}  // namespace

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  if (category(a) < category(b)) std::swap(a, b);
  switch (category(a)) {
    case 3:
      if (category(b) == 2) b = complex_for(b);
      return a == DType::kComplex128 || b == DType::kComplex128 ? DType::kComplex128 : a;
    case 2:
      return category(b) == 2 ? promote_floats(a, b) : a;
    case 1:
      return category(b) == 1 ? promote_integers(a, b) : a;
    default:
      return a;
  }
}

DType result_type(std::span<const PromotionOperand> operands) {
  constexpr std::array kKinds = {OperandKind::kTensor, OperandKind::kZeroDim, OperandKind::kNumber};
  std::optional<DType> result;
  for (const OperandKind kind : kKinds) {
    std::optional<DType> of_kind;
    for (const PromotionOperand& operand : operands) {
      if (operand.kind != kind) continue;
      of_kind = of_kind ? promote_types(*of_kind, operand.dtype) : operand.dtype;
    }
    if (!of_kind) continue;
    // A number counts as PyTorch's default type of its category.
    if (kind == OperandKind::kNumber && category(*of_kind) == 2) of_kind = DType::kFloat32;
    if (kind == OperandKind::kNumber && category(*of_kind) == 3) of_kind = DType::kComplex64;
    if (!result) {
      result = of_kind;
    } else if (category(*of_kind) > category(*result)) {
      result = category(*of_kind) == 3 && category(*result) == 2 ? promote_types(*result, *of_kind)
                                                                 : *of_kind;
    }
  }
  return result.value_or(DType::kFloat32);
}

}  // namespace leapp::ir
