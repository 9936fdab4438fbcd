// Operators that draw random numbers. An ONNX model cannot repeat PyTorch's stream, so each of them
// is refused.
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

void refuse(OpContext& context) {
  context.fail(
      "it draws random numbers, and an ONNX model cannot repeat PyTorch's",
      "Draw the noise outside the node and pass it as an input, or put the model in eval mode.");
}

Value convert_dropout(OpContext& context) {
  const bool active = context.flag("train") && context.number("p") > 0.0;
  if (active) refuse(context);
  return context.tensor("input");
}

void convert_native_dropout(OpContext& context) {
  const bool active = context.is_none("train") || context.flag("train");
  if (active && context.number("p") > 0.0) refuse(context);
  context.set(0, context.tensor("input"));
  context.set(1, full(context.builder(), context.result_type(1), 1));
}

}  // namespace

void register_random(ConverterRegistry& registry) {
  registry.add({"aten::dropout", "aten::feature_dropout", "aten::alpha_dropout",
                "aten::feature_alpha_dropout"},
               convert_dropout);
  registry.add("aten::native_dropout", convert_native_dropout);
  registry.add({"aten::bernoulli",
                "aten::bernoulli.p",
                "aten::bernoulli.Tensor",
                "aten::cauchy",
                "aten::exponential",
                "aten::geometric",
                "aten::log_normal",
                "aten::multinomial",
                "aten::normal.Tensor_float",
                "aten::normal.float_Tensor",
                "aten::normal.Tensor_Tensor",
                "aten::normal_functional",
                "aten::poisson",
                "aten::rand_like",
                "aten::randint_like",
                "aten::randint_like.low_dtype",
                "aten::randn_like",
                "aten::random",
                "aten::random.from",
                "aten::random.to",
                "aten::rrelu_with_noise_functional",
                "aten::uniform"},
               refuse);
}

}  // namespace leapp::onnx_export
