// PyTorch's type promotion.
#pragma once

#include <span>

#include "leapp/dtype.h"
#include "leapp/visibility.h"

namespace leapp::ir {

/// The smallest type both convert to, as torch.promote_types.
LEAPP_EXPORT DType promote_types(DType a, DType b);

/// How much an operand weighs: tensors with dimensions outweigh 0-d tensors, which outweigh
/// numbers, unless the lighter one is of a higher category (bool < integer < float < complex).
enum class OperandKind { kTensor, kZeroDim, kNumber };

struct PromotionOperand {
  DType dtype;
  OperandKind kind;
};

/// The type an operation over these operands is computed in, as torch.result_type.
LEAPP_EXPORT DType result_type(std::span<const PromotionOperand> operands);

}  // namespace leapp::ir
