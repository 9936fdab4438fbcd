// Matrix products.
#include "export/onnx/nn.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

Value as_result(OpContext& context, std::string_view parameter) {
  return cast(context.tensor(parameter), context.result_dtype());
}

Value product(OpContext& context, std::string_view left, std::string_view right) {
  return matmul(as_result(context, left), as_result(context, right));
}

/// Returns beta * self + alpha * product; with beta = 0, self is not read.
Value blend(OpContext& context, Value product) {
  const DType dtype = product.dtype();
  const bool alpha_one = context.number("alpha") == 1.0;
  const Value scaled = alpha_one ? product : product * context.scalar_argument("alpha", dtype);
  if (context.number("beta") == 0.0) return scaled;
  const Value self = as_result(context, "self");
  const bool beta_one = context.number("beta") == 1.0;
  const Value added = beta_one ? self : self * context.scalar_argument("beta", dtype);
  return scaled + added;
}

Value convert_addmm(OpContext& context) {
  return blend(context, product(context, "mat1", "mat2"));
}

Value convert_baddbmm(OpContext& context) {
  return blend(context, product(context, "batch1", "batch2"));
}

Value convert_addbmm(OpContext& context) {
  return blend(context, sum(product(context, "batch1", "batch2"), {0}));
}

Value convert_addmv(OpContext& context) {
  return blend(context, product(context, "mat", "vec"));
}

Value outer(Value a, Value b) {
  return unsqueeze(a, 1) * unsqueeze(b, 0);
}

Value convert_addr(OpContext& context) {
  const DType dtype = context.result_dtype();
  return blend(context,
               outer(cast(context.tensor("vec1"), dtype), cast(context.tensor("vec2"), dtype)));
}

Value convert_linear(OpContext& context) {
  return linear(context.tensor("input"), context.tensor("weight"), context.optional_tensor("bias"));
}

}  // namespace

Value linear(Value x, Value weight, Value bias) {
  const DType dtype = x.dtype();
  if (dtype ==
      DType::kBFloat16) {  // multiplied in single precision and rounded once, as in PyTorch
    const auto wide = [](Value value) {
      return value.defined() ? cast(value, DType::kFloat32) : value;
    };
    return cast(linear(wide(x), wide(weight), wide(bias)), dtype);
  }
  const bool as_gemm = weight.rank() == 2 && is_floating_point(dtype) && x.rank() > 0 &&
                       x.count() > 0 && (!bias.defined() || bias.rank() == 1);
  if (!as_gemm) {
    const Value made = matmul(x, weight.rank() == 2 ? transpose(weight, 0, 1) : weight);
    return bias.defined() ? made + bias : made;
  }
  // The weight keeps PyTorch's layout: a Gemm transposes it while multiplying.
  const std::int64_t rows = x.count() / x.size(-1);
  std::vector<Value> inputs = {reshape(x, {rows, x.size(-1)}), weight};
  if (bias.defined()) inputs.push_back(bias);
  const Value made = x.builder().emit(
      "Gemm", inputs,
      {{"alpha", 1.0F}, {"beta", 1.0F}, {"transA", std::int64_t{0}}, {"transB", std::int64_t{1}}},
      {dtype, {rows, weight.size(0)}});
  Shape shape = x.shape();
  shape.back() = weight.size(0);
  return reshape(made, std::move(shape));
}

void register_matmul(ConverterRegistry& registry) {
  registry.add({"aten::mm", "aten::bmm"},
               [](OpContext& context) { return product(context, "self", "mat2"); });
  registry.add("aten::matmul",
               [](OpContext& context) { return product(context, "self", "other"); });
  registry.add("aten::mv", [](OpContext& context) { return product(context, "self", "vec"); });
  registry.add({"aten::dot", "aten::vdot"}, [](OpContext& context) {
    return product(context, "self", context.has("tensor") ? "tensor" : "other");
  });
  registry.add({"aten::outer", "aten::ger"}, [](OpContext& context) {
    return outer(as_result(context, "self"), as_result(context, "vec2"));
  });
  registry.add("aten::addmm", convert_addmm);
  registry.add("aten::baddbmm", convert_baddbmm);
  registry.add("aten::addbmm", convert_addbmm);
  registry.add("aten::addmv", convert_addmv);
  registry.add("aten::addr", convert_addr);
  registry.add("aten::linear", convert_linear);
}

}  // namespace leapp::onnx_export
