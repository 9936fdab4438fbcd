// Tensors filled with a number, and conversions of type.
#include "export/cpp/registry.h"

namespace leapp::cpp_export {
namespace {

Value generate_cast(OpContext& context) {
  return cast(context.tensor("self"), context.result_dtype());
}

Generator full_of(std::int64_t number) {
  return [number](OpContext& context) {
    context.set(filled(number, context.result_dtype(), context.result_shape()));
  };
}

Value generate_fill(OpContext& context, const char* parameter) {
  return expanded(context.operand(parameter, context.result_dtype()), context.result_shape());
}

}  // namespace

void register_creation(GeneratorRegistry& registry) {
  registry.add({"aten::_to_copy", "aten::to.dtype", "aten::to.device", "aten::to.dtype_layout",
                "aten::to.other", "aten::type_as"},
               generate_cast);
  registry.add({"aten::copy"}, [](OpContext& context) {
    return expanded(cast(context.tensor("src"), context.result_dtype()), context.result_shape());
  });
  registry.add({"aten::zeros_like", "aten::new_zeros", "aten::zero", "aten::empty_like",
                "aten::new_empty", "aten::new_empty_strided"},
               full_of(0));
  registry.add({"aten::ones_like", "aten::new_ones"}, full_of(1));
  registry.add({"aten::full_like", "aten::new_full"},
               [](OpContext& context) { return generate_fill(context, "fill_value"); });
  registry.add({"aten::fill.Scalar", "aten::fill.Tensor"},
               [](OpContext& context) { return generate_fill(context, "value"); });
}

}  // namespace leapp::cpp_export
