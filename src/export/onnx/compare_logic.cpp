// Comparisons, logic on bool, bitwise operations, choices.
#include "export/onnx/math.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

/// Compares in the type to which PyTorch would promote both operands.
template <typename Function>
auto comparison(Function function) {
  return [function](OpContext& context) -> Value {
    const DType dtype = context.promoted({"self", "other"});
    return function(cast(context.operand("self"), dtype), cast(context.operand("other"), dtype));
  };
}

template <typename Function>
auto logical(Function function) {
  return [function](OpContext& context) -> Value {
    return function(cast(context.tensor("self"), DType::kBool),
                    cast(context.tensor("other"), DType::kBool));
  };
}

Value both_bits(const char* op_type, Value a, Value b) {
  if (a.dtype() != DType::kBool) return elementwise(op_type, {a, b});
  if (std::string_view(op_type) == "BitwiseAnd") return a && b;
  if (std::string_view(op_type) == "BitwiseOr") return a || b;
  return logical_xor(a, b);
}

auto bitwise(const char* op_type) {
  return [op_type](OpContext& context) -> Value {
    const DType dtype = context.result_dtype();
    if (dtype != DType::kBool) context.need_opset(18, "bitwise arithmetic on integers");
    return both_bits(op_type, cast(context.operand("self"), dtype),
                     cast(context.operand("other"), dtype));
  };
}

Value convert_bitwise_not(OpContext& context) {
  const Value x = context.tensor("self");
  if (x.dtype() == DType::kBool) return !x;
  if (x.dtype() == DType::kInt64 || x.dtype() == DType::kInt32) return -x - 1.0;
  context.need_opset(18, "bitwise arithmetic on integers");
  return elementwise("BitwiseNot", {x});
}

/// Computes 2 to the power of `count`, which is not negative.
Value two_to(Value count) {
  return power(full(count.builder(), count.type(), 2), count);
}

int bits_of(DType dtype) {
  return static_cast<int>(size_of(dtype)) * 8;
}

Value convert_left_shift(OpContext& context) {
  const DType dtype = context.result_dtype();
  const Value x = cast(context.operand("self"), dtype);
  const Value count = cast(context.operand("other"), dtype);
  const Value outside = count < 0.0 || count >= static_cast<double>(bits_of(dtype));
  const Value safe = where(outside, 0.0, count);
  return where(outside, 0.0, x * two_to(safe));
}

Value convert_right_shift(OpContext& context) {
  const DType dtype = context.result_dtype();
  const Value x = cast(context.operand("self"), dtype);
  const Value count = cast(context.operand("other"), dtype);
  // One less than the number of bits: beyond that, only the sign is left.
  const double most = bits_of(dtype) - (dtype == DType::kUInt8 ? 0 : 1);
  const Value outside = count < 0.0 || count >= most;
  const Value safe = where(outside, 0.0, count);
  const Value all_sign = where(x < 0.0, scalar_like(x, -1), 0.0);
  return where(outside, dtype == DType::kUInt8 ? scalar_like(x, 0) : all_sign,
               floor_divide(x, two_to(safe)));
}

Value convert_where(OpContext& context) {
  const DType dtype = context.result_dtype();
  const Value chosen =
      where(cast(context.tensor("condition"), DType::kBool), cast(context.operand("self"), dtype),
            cast(context.operand("other"), dtype));
  return chosen;
}

Value convert_masked_fill(OpContext& context) {
  const Value x = context.tensor("self");
  const Value fill = cast(context.operand("value"), x.dtype());
  return expand(where(cast(context.tensor("mask"), DType::kBool), fill, x), context.result_shape());
}

Value convert_isclose(OpContext& context) {
  const DType dtype = context.promoted({"self", "other"});
  const Value a = cast(context.tensor("self"), dtype);
  const Value b = cast(context.tensor("other"), dtype);
  Value close = equal(a, b);
  if (context.flag("equal_nan")) close = close || (is_nan(a) && is_nan(b));
  if (context.number("rtol") == 0.0 && context.number("atol") == 0.0) return close;
  const DType real = is_floating_point(dtype) ? dtype : DType::kFloat32;
  const Value wide_a = cast(a, real);
  const Value wide_b = cast(b, real);
  const Value allowed = context.number("atol") + abs(wide_b * context.number("rtol"));
  const Value difference = abs(wide_a - wide_b);
  return close || (!(is_inf(difference) || is_nan(difference)) && difference <= allowed);
}

Value convert_equal_tensors(OpContext& context) {
  const DType dtype = context.promoted({"self", "other"});
  return all(equal(cast(context.tensor("self"), dtype), cast(context.tensor("other"), dtype)), {});
}

}  // namespace

void register_compare_logic(ConverterRegistry& registry) {
  registry.add({"aten::eq.Tensor", "aten::eq.Scalar"},
               comparison([](Value a, Value b) { return equal(a, b); }));
  registry.add(
      {"aten::ne.Tensor", "aten::ne.Scalar", "aten::not_equal.Tensor", "aten::not_equal.Scalar"},
      comparison([](Value a, Value b) { return not_equal(a, b); }));
  registry.add(
      {"aten::lt.Tensor", "aten::lt.Scalar", "aten::less.Tensor", "aten::less.Scalar"},
      comparison([](Value a, Value b) { return a.dtype() == DType::kBool ? !a && b : a < b; }));
  registry.add(
      {"aten::gt.Tensor", "aten::gt.Scalar", "aten::greater.Tensor", "aten::greater.Scalar"},
      comparison([](Value a, Value b) { return a.dtype() == DType::kBool ? a && !b : a > b; }));
  registry.add(
      {"aten::le.Tensor", "aten::le.Scalar", "aten::less_equal.Tensor", "aten::less_equal.Scalar"},
      comparison([](Value a, Value b) { return a.dtype() == DType::kBool ? !a || b : a <= b; }));
  registry.add(
      {"aten::ge.Tensor", "aten::ge.Scalar", "aten::greater_equal.Tensor",
       "aten::greater_equal.Scalar"},
      comparison([](Value a, Value b) { return a.dtype() == DType::kBool ? a || !b : a >= b; }));
  registry.add("aten::logical_and", logical([](Value a, Value b) { return a && b; }));
  registry.add("aten::logical_or", logical([](Value a, Value b) { return a || b; }));
  registry.add("aten::logical_xor", logical([](Value a, Value b) { return logical_xor(a, b); }));
  registry.add("aten::logical_not", [](OpContext& context) -> Value {
    return !cast(context.tensor("self"), DType::kBool);
  });
  registry.add({"aten::bitwise_and.Tensor", "aten::bitwise_and.Scalar",
                "aten::bitwise_and.Scalar_Tensor", "aten::__and__.Tensor", "aten::__and__.Scalar"},
               bitwise("BitwiseAnd"));
  registry.add({"aten::bitwise_or.Tensor", "aten::bitwise_or.Scalar",
                "aten::bitwise_or.Scalar_Tensor", "aten::__or__.Tensor", "aten::__or__.Scalar"},
               bitwise("BitwiseOr"));
  registry.add({"aten::bitwise_xor.Tensor", "aten::bitwise_xor.Scalar",
                "aten::bitwise_xor.Scalar_Tensor", "aten::__xor__.Tensor", "aten::__xor__.Scalar"},
               bitwise("BitwiseXor"));
  registry.add("aten::bitwise_not", convert_bitwise_not);
  registry.add({"aten::bitwise_left_shift.Tensor", "aten::bitwise_left_shift.Tensor_Scalar",
                "aten::bitwise_left_shift.Scalar_Tensor", "aten::__lshift__.Tensor",
                "aten::__lshift__.Scalar"},
               convert_left_shift);
  registry.add({"aten::bitwise_right_shift.Tensor", "aten::bitwise_right_shift.Tensor_Scalar",
                "aten::bitwise_right_shift.Scalar_Tensor", "aten::__rshift__.Tensor",
                "aten::__rshift__.Scalar"},
               convert_right_shift);
  registry.add({"aten::where.self", "aten::where.ScalarSelf", "aten::where.ScalarOther",
                "aten::where.Scalar"},
               convert_where);
  registry.add({"aten::masked_fill.Scalar", "aten::masked_fill.Tensor"}, convert_masked_fill);
  registry.add("aten::isclose", convert_isclose);
  registry.add("aten::equal", convert_equal_tensors);
  registry.add("aten::isnan",
               [](OpContext& context) -> Value { return is_nan(context.tensor("self")); });
  registry.add("aten::isinf",
               [](OpContext& context) -> Value { return is_inf(context.tensor("self")); });
  registry.add("aten::isfinite", [](OpContext& context) -> Value {
    const Value x = context.tensor("self");
    return !(is_nan(x) || is_inf(x));
  });
  registry.add("aten::isposinf", [](OpContext& context) -> Value {
    const Value x = context.tensor("self");
    return is_inf(x) && !sign_bit(x);
  });
  registry.add("aten::isneginf", [](OpContext& context) -> Value {
    const Value x = context.tensor("self");
    return is_inf(x) && sign_bit(x);
  });
  registry.add("aten::signbit",
               [](OpContext& context) -> Value { return sign_bit(context.tensor("self")); });
}

}  // namespace leapp::onnx_export
