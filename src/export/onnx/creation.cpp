// Tensors created from constants or from another tensor's shape, and conversions of element type.
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

/// Converts to the same elements in the result's element type.
Value convert_type(OpContext& context) {
  return convert_elements(context.tensor("self"), context.result_dtype());
}

auto filled(double value) {
  return [value](OpContext& context) -> Value {
    return full(context.builder(), context.result_type(), value);
  };
}

Value convert_full(OpContext& context) {
  const Type type = context.result_type();
  return expand(context.scalar_argument("fill_value", type.dtype), type.shape);
}

Value convert_fill(OpContext& context) {
  const Type type = context.result_type();
  return expand(reshape(cast(context.operand("value"), type.dtype), {}), type.shape);
}

/// Converts a copy: every element of `self` is replaced by the source's.
Value convert_copy(OpContext& context) {
  const Type type = context.result_type();
  return expand(convert_elements(context.tensor("src"), type.dtype), type.shape);
}

}  // namespace

void register_creation(ConverterRegistry& registry) {
  registry.add({"aten::_to_copy", "aten::to.dtype", "aten::to.device", "aten::to.dtype_layout",
                "aten::to.other", "aten::type_as", "aten::_cast_Float", "aten::_cast_Double",
                "aten::_cast_Half", "aten::_cast_Int", "aten::_cast_Long", "aten::_cast_Short",
                "aten::_cast_Char", "aten::_cast_Byte"},
               convert_type);
  registry.add("aten::copy", convert_copy);
  registry.add({"aten::zeros_like", "aten::new_zeros", "aten::zero"}, filled(0));
  registry.add({"aten::ones_like", "aten::new_ones"}, filled(1));
  // Uninitialised memory may contain anything; zeros are reproducible.
  registry.add({"aten::empty_like", "aten::new_empty", "aten::new_empty_strided"}, filled(0));
  registry.add({"aten::full_like", "aten::new_full"}, convert_full);
  registry.add({"aten::fill.Scalar", "aten::fill.Tensor"}, convert_fill);
}

}  // namespace leapp::onnx_export
