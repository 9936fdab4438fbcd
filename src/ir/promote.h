// PyTorch's type promotion.
#pragma once

#include <span>

#include "leapp/dtype.h"
#include "leapp/visibility.h"

namespace leapp::ir {

/// Returns the smallest type both convert to, as torch.promote_types.
LEAPP_EXPORT DType promote_types(DType a, DType b);

/// Operand kinds by precedence: tensors with dimensions take precedence over 0-d tensors, those
/// over numbers, unless the lower kind has a higher category (bool < integer < float < complex).
enum class OperandKind { kTensor, kZeroDim, kNumber };

struct PromotionOperand {
  DType dtype;
  OperandKind kind;
};

/// Returns the type an operation over these operands is computed in, as torch.result_type.
LEAPP_EXPORT DType result_type(std::span<const PromotionOperand> operands);

}  // namespace leapp::ir
