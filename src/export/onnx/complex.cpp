// Complex arithmetic on pairs of real numbers: a complex tensor is a real one with a last dimension
// of size two. ONNX Runtime has no complex tensors, so a port cannot be complex, but values inside
// the graph can.
#include "export/onnx/math.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

struct Pair {
  Value real;
  Value imaginary;
};

Value joined(const Pair& pair) {
  const Value parts[] = {pair.real, pair.imaginary};
  return stack(parts, -1);
}

Pair parts_of(Value value) {
  return {select(value, -1, 0), select(value, -1, 1)};
}

/// Returns a tensor or Scalar argument, real or complex, in the element type of the result's parts.
Pair argument(OpContext& context, std::string_view parameter, DType dtype) {
  const ir::Argument& held = context.op().argument(parameter);
  if (std::holds_alternative<ir::ValueRef>(held)) {
    const Pair pair = parts_of(context.complex_tensor(parameter));
    return {cast(pair.real, dtype), cast(pair.imaginary, dtype)};
  }
  if (const auto* number = std::get_if<std::complex<double>>(&held)) {
    return {scalar(context.builder(), dtype, number->real()),
            scalar(context.builder(), dtype, number->imag())};
  }
  return {scalar(context.builder(), dtype, context.number(parameter)),
          scalar(context.builder(), dtype, 0)};
}

DType part_type(OpContext& context) {
  switch (context.result_dtype()) {
    case DType::kComplex64:
      return DType::kFloat32;
    case DType::kComplex128:
      return DType::kFloat64;
    default:
      return context.result_dtype();
  }
}

Pair operator*(const Pair& a, const Pair& b) {
  return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
}

Pair operator/(const Pair& a, const Pair& b) {
  // Scaled by the larger part, so that squaring a large divisor does not overflow.
  const Value scale = maximum(abs(b.real), abs(b.imaginary));
  const Value real = b.real / scale;
  const Value imaginary = b.imaginary / scale;
  const Value length = (square(real) + square(imaginary)) * scale;
  return {(a.real * real + a.imaginary * imaginary) / length,
          (a.imaginary * real - a.real * imaginary) / length};
}

Pair both(const Pair& a, Shape shape) {
  return {expand(a.real, shape), expand(a.imaginary, shape)};
}

void set(OpContext& context, const Pair& pair) {
  context.set_complex(0, joined(both(pair, context.result_shape())));
}

/// Converts a sum or difference with an optional factor `alpha`.
template <typename Combine>
auto additive(Combine combine, bool reversed = false) {
  return [combine, reversed](OpContext& context) {
    const DType dtype = part_type(context);
    Pair a = argument(context, reversed ? "other" : "self", dtype);
    Pair b = argument(context, reversed ? "self" : "other", dtype);
    if (context.has("alpha")) b = b * argument(context, "alpha", dtype);
    set(context, {combine(a.real, b.real), combine(a.imaginary, b.imaginary)});
  };
}

void convert_mul(OpContext& context) {
  const DType dtype = part_type(context);
  set(context, argument(context, "self", dtype) * argument(context, "other", dtype));
}

void convert_div(OpContext& context) {
  context.need(context.text("rounding_mode").empty(), "complex division has no rounding");
  const DType dtype = part_type(context);
  set(context, argument(context, "self", dtype) / argument(context, "other", dtype));
}

void convert_reciprocal(OpContext& context) {
  const Pair x = argument(context, "self", part_type(context));
  set(context,
      Pair{full(context.builder(), x.real.type(), 1), full(context.builder(), x.real.type(), 0)} /
          x);
}

void convert_abs(OpContext& context) {
  const Pair x = argument(context, "self", part_type(context));
  context.set(hypot(x.real, x.imaginary));
}

void convert_angle(OpContext& context) {
  const Pair x = argument(context, "self", part_type(context));
  context.set(atan2(x.imaginary, x.real));
}

void convert_conjugate(OpContext& context) {
  const Pair x = argument(context, "self", part_type(context));
  set(context, {x.real, -x.imaginary});
}

void convert_exp(OpContext& context) {
  const Pair x = argument(context, "self", part_type(context));
  const Value length = exp(x.real);
  set(context, {length * cos(x.imaginary), length * sin(x.imaginary)});
}

void convert_square(OpContext& context) {
  const Pair x = argument(context, "self", part_type(context));
  set(context, x * x);
}

void convert_matmul(OpContext& context, const char* left, const char* right) {
  const DType dtype = part_type(context);
  const Pair a = argument(context, left, dtype);
  const Pair b = argument(context, right, dtype);
  set(context, {matmul(a.real, b.real) - matmul(a.imaginary, b.imaginary),
                matmul(a.real, b.imaginary) + matmul(a.imaginary, b.real)});
}

void convert_to_complex(OpContext& context) {
  const Pair x = argument(context, "self", part_type(context));
  if (is_complex(context.result_dtype())) {
    set(context, x);
  } else {
    context.set(convert_elements(x.real, context.result_dtype()));
  }
}

void convert_view_as_real(OpContext& context) {
  context.set(context.complex_tensor("self"));
}

void convert_view_as_complex(OpContext& context) {
  context.set_complex(0, context.tensor("self"));
}

void convert_complex(OpContext& context) {
  const Value real = context.tensor("real");
  const Value imaginary = context.tensor("imag");
  set(context, {real, imaginary});
}

void convert_polar(OpContext& context) {
  const Value length = context.tensor("abs");
  const Value angle = context.tensor("angle");
  set(context, {length * cos(angle), length * sin(angle)});
}

void convert_real(OpContext& context) {
  context.set(select(context.complex_tensor("self"), -1, 0));
}

void convert_imag(OpContext& context) {
  context.set(select(context.complex_tensor("self"), -1, 1));
}

void convert_equal(OpContext& context, bool same) {
  const DType dtype = DType::kFloat64;
  const Pair a = argument(context, "self", dtype);
  const Pair b = argument(context, "other", dtype);
  const Value equals = equal(a.real, b.real) && equal(a.imaginary, b.imaginary);
  context.set(same ? equals : !equals);
}

}  // namespace

void register_complex(ConverterRegistry& registry) {
  registry.add_complex({"aten::add.Tensor", "aten::add.Scalar"},
                       additive([](Value a, Value b) { return a + b; }));
  registry.add_complex({"aten::sub.Tensor", "aten::sub.Scalar"},
                       additive([](Value a, Value b) { return a - b; }));
  registry.add_complex({"aten::rsub.Tensor", "aten::rsub.Scalar"},
                       additive([](Value a, Value b) { return a - b; }, true));
  registry.add_complex({"aten::mul.Tensor", "aten::mul.Scalar"}, convert_mul);
  registry.add_complex({"aten::div.Tensor", "aten::div.Scalar"}, convert_div);
  registry.add_complex({"aten::reciprocal"}, convert_reciprocal);
  registry.add_complex({"aten::abs"}, convert_abs);
  registry.add_complex({"aten::angle"}, convert_angle);
  registry.add_complex({"aten::_conj", "aten::_conj_physical", "aten::conj_physical", "aten::conj"},
                       convert_conjugate);
  registry.add_complex({"aten::exp"}, convert_exp);
  registry.add_complex({"aten::square"}, convert_square);
  registry.add_complex({"aten::mm", "aten::bmm"},
                       [](OpContext& context) { convert_matmul(context, "self", "mat2"); });
  registry.add_complex({"aten::matmul"},
                       [](OpContext& context) { convert_matmul(context, "self", "other"); });
  registry.add_complex({"aten::_to_copy", "aten::to.dtype", "aten::to.dtype_layout"},
                       convert_to_complex);
  registry.add_complex({"aten::view_as_real", "aten::view_as_real_copy"}, convert_view_as_real);
  registry.add_complex({"aten::view_as_complex", "aten::view_as_complex_copy"},
                       convert_view_as_complex);
  registry.add_complex({"aten::complex"}, convert_complex);
  registry.add_complex({"aten::polar"}, convert_polar);
  registry.add_complex({"aten::real"}, convert_real);
  registry.add_complex({"aten::imag"}, convert_imag);
  registry.add_complex({"aten::eq.Tensor", "aten::eq.Scalar"},
                       [](OpContext& context) { convert_equal(context, true); });
  registry.add_complex({"aten::ne.Tensor", "aten::ne.Scalar"},
                       [](OpContext& context) { convert_equal(context, false); });
  registry.add_by_parts({"aten::alias",
                         "aten::cat",
                         "aten::chunk",
                         "aten::clone",
                         "aten::constant_pad_nd",
                         "aten::detach",
                         "aten::diagonal",
                         "aten::expand",
                         "aten::flip",
                         "aten::gather",
                         "aten::index.Tensor",
                         "aten::index_select",
                         "aten::mean",
                         "aten::mean.dim",
                         "aten::neg",
                         "aten::permute",
                         "aten::positive",
                         "aten::repeat",
                         "aten::reshape",
                         "aten::resolve_conj",
                         "aten::resolve_neg",
                         "aten::roll",
                         "aten::select.int",
                         "aten::select_scatter",
                         "aten::slice.Tensor",
                         "aten::slice_scatter",
                         "aten::split.Tensor",
                         "aten::split_with_sizes",
                         "aten::squeeze",
                         "aten::squeeze.dim",
                         "aten::squeeze.dims",
                         "aten::stack",
                         "aten::sum",
                         "aten::sum.dim_IntList",
                         "aten::t",
                         "aten::transpose.int",
                         "aten::unbind.int",
                         "aten::unfold",
                         "aten::unsqueeze",
                         "aten::view",
                         "aten::where.self",
                         "aten::zeros_like"});
}

}  // namespace leapp::onnx_export
