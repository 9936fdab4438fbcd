// Element-wise operators that do not fit into a table: several templates, or operands of several
// types.
#include <cmath>
#include <limits>

#include "export/cpp/pointwise.h"
#include "export/cpp/registry.h"

namespace leapp::cpp_export {
namespace {

// Functions for integers wrap around.
std::string infix(DType dtype, const char* sign, const char* function) {
  if (is_floating_point(dtype)) return std::string("($0 ") + sign + " $1)";
  return std::string(function) + "($0, $1)";
}

Value scaled(OpContext& context, const Value& value, const char* parameter) {
  if (!context.has(parameter) || context.number(parameter, 1) == 1) return value;
  const DType type = context.result_dtype();
  return combine(infix(type, "*", "multiply"), {context.operand(parameter, type), value}, type);
}

// Computes one operand plus alpha times another.
Value with_alpha(OpContext& context, const char* sign, const char* function, const char* first,
                 const char* second) {
  const DType type = context.result_dtype();
  return apply(
      context, infix(type, sign, function),
      {context.operand(first, type), scaled(context, context.operand(second, type), "alpha")}, "");
}

Value generate_add(OpContext& context) {
  return with_alpha(context, "+", "add", "self", "other");
}

Value generate_sub(OpContext& context) {
  return with_alpha(context, "-", "subtract", "self", "other");
}

Value generate_rsub(OpContext& context) {
  return with_alpha(context, "-", "subtract", "other", "self");
}

Value generate_mul(OpContext& context) {
  const DType type = context.result_dtype();
  return apply(context, infix(type, "*", "multiply"),
               {context.operand("self", type), context.operand("other", type)}, "");
}

// Divides with a rounding mode. Integer division by zero makes the run fail.
Value divided(OpContext& context, const std::string& mode) {
  const DType type = context.result_dtype();
  const std::vector<Value> operands = {context.operand("self", type),
                                       context.operand("other", type)};
  if (mode.empty()) return apply(context, "($0 / $1)", operands, "");
  if (is_floating_point(type)) {
    const char* text = mode == "floor" ? "floor_divide($0, $1)" : "trunc($0 / $1)";
    return apply(context, text, operands, "math.h");
  }
  const int error = context.program().add_error(context.origin() + ": division by zero");
  const char* function = mode == "floor" ? "integer_floor_divide" : "integer_divide";
  return apply(context, std::string(function) + "($0, $1, status, " + std::to_string(error) + ")",
               operands, "math.h");
}

Value generate_div(OpContext& context) {
  return divided(context, context.has("rounding_mode") ? context.text("rounding_mode") : "");
}

Value generate_rest(OpContext& context, const std::string& function) {
  const DType type = context.result_dtype();
  const std::vector<Value> operands = {context.operand("self", type),
                                       context.operand("other", type)};
  if (is_floating_point(type)) return apply(context, function + "($0, $1)", operands, "math.h");
  const int error = context.program().add_error(context.origin() + ": division by zero");
  return apply(context, "integer_" + function + "($0, $1, status, " + std::to_string(error) + ")",
               operands, "math.h");
}

Value generate_clamp(OpContext& context, const char* low, const char* high) {
  const DType type = context.result_dtype();
  Value value = context.operand("self", type);
  if (!context.is_none(low)) {
    value = apply(context, "maximum($0, $1)", {value, context.operand(low, type)}, "");
  }
  if (!context.is_none(high)) {
    value = apply(context, "minimum($0, $1)", {value, context.operand(high, type)}, "");
  }
  return value;
}

Value generate_addc(OpContext& context, const char* sign) {
  const DType type = context.result_dtype();
  Value inner = combine(std::string("($0 ") + sign + " $1)",
                        {context.operand("tensor1", type), context.operand("tensor2", type)}, type);
  if (!is_floating_point(type)) {
    inner = combine("multiply($0, $1)",
                    {context.operand("tensor1", type), context.operand("tensor2", type)}, type);
  }
  return apply(context, infix(type, "+", "add"),
               {context.operand("self", type), scaled(context, inner, "value")}, "");
}

Value generate_where(OpContext& context) {
  const DType type = context.result_dtype();
  return apply(context, "($0 ? $1 : $2)",
               {cast(context.tensor("condition"), DType::kBool), context.operand("self", type),
                context.operand("other", type)},
               "");
}

Value generate_masked_fill(OpContext& context) {
  const DType type = context.result_dtype();
  return apply(
      context, "($0 ? $1 : $2)",
      {context.tensor("mask"), context.operand("value", type), context.operand("self", type)}, "");
}

Value generate_nan_to_num(OpContext& context) {
  const DType type = context.result_dtype();
  const double largest = type == DType::kFloat64
                             ? std::numeric_limits<double>::max()
                             : static_cast<double>(std::numeric_limits<float>::max());
  return apply(context, "nan_to_num($0, $1, $2, $3)",
               {context.tensor("self"), filled(context.number("nan", 0), type),
                filled(context.number("posinf", largest), type),
                filled(context.number("neginf", -largest), type)},
               "math.h");
}

Value generate_round_decimals(OpContext& context) {
  const DType type = context.result_dtype();
  const double decimals = static_cast<double>(context.integer("decimals"));
  const bool left = decimals < 0;
  return apply(context, std::string("round_decimals($0, $1, ") + (left ? "true)" : "false)"),
               {context.tensor("self"), filled(std::pow(10.0, std::abs(decimals)), type)},
               "math.h");
}

Value generate_isclose(OpContext& context) {
  const DType promoted = context.promoted({"self", "other"});
  // PyTorch compares integers by their difference as float32.
  const DType type = is_floating_point(promoted) ? promoted : DType::kFloat32;
  const char* nan = context.flag("equal_nan") ? "true" : "false";
  return apply(context, std::string("is_close($0, $1, $2, $3, ") + nan + ")",
               {context.operand("self", type), context.operand("other", type),
                filled(context.number("rtol"), type), filled(context.number("atol"), type)},
               "math.h");
}

// A factor times the operand, in the result's type.
Generator multiple(double factor) {
  return [factor](OpContext& context) {
    const DType type = context.result_dtype();
    context.set(
        apply(context, "($0 * $1)", {context.operand("self", type), filled(factor, type)}, ""));
  };
}

Value generate_gelu(OpContext& context) {
  const bool by_tanh = context.text("approximate") == "tanh";
  return apply(context, by_tanh ? "gelu_tanh($0)" : "gelu($0)", {context.tensor("self")},
               "activation.h");
}

Value generate_logit(OpContext& context) {
  const DType type = context.result_dtype();
  return apply(context, "logit($0, $1)",
               {context.operand("self", type), filled(context.number("eps", -1), type)},
               "activation.h");
}

Value generate_glu(OpContext& context) {
  const Value x = context.tensor("self");
  const std::int64_t dim = context.dim("dim", x.rank());
  const std::int64_t half = x.shape[static_cast<std::size_t>(dim)] / 2;
  const Value whole = context.program().cheap(x);
  return apply(context, "($0 * sigmoid($1))",
               {sliced(whole, dim, 0, half), sliced(whole, dim, half, half)}, "activation.h");
}

Value generate_ldexp(OpContext& context) {
  const DType type = context.result_dtype();
  return apply(context, "($0 * exp2($1))",
               {context.operand("self", type), context.operand("other", type)}, "math.h");
}

// Operators that are a single expression.
void add_expressions(GeneratorRegistry& registry) {
  registry.add({"aten::reciprocal"}, [](OpContext& context) {
    const DType type = context.result_dtype();
    return apply(context, "($0 / $1)", {filled(1.0, type), context.operand("self", type)}, "");
  });
  registry.add({"aten::square"}, [](OpContext& context) {
    const Value x = context.program().cheap(context.operand("self", context.result_dtype()));
    return apply(context, infix(x.dtype, "*", "multiply"), {x, x}, "");
  });
  registry.add({"aten::frac"}, [](OpContext& context) {
    const Value x = context.program().cheap(context.tensor("self"));
    return apply(context, "($0 - trunc($1))", {x, x}, "math.h");
  });
  registry.add({"aten::angle"}, [](OpContext& context) {
    const DType type = context.result_dtype();
    return apply(context, "(is_nan($0) ? $0 : less($0, $1) ? $2 : $1)",
                 {context.program().cheap(context.operand("self", type)), filled(0.0, type),
                  filled(3.141592653589793, type)},
                 "math.h");
  });
  registry.add({"aten::relu6"}, [](OpContext& context) {
    const Value x = context.tensor("self");
    return apply(context, "clamp($0, $1, $2)",
                 {x, filled(std::int64_t{0}, x.dtype), filled(std::int64_t{6}, x.dtype)},
                 "activation.h");
  });
  registry.add({"aten::positive", "aten::clone", "aten::detach", "aten::alias", "aten::alias_copy",
                "aten::detach_copy", "aten::contiguous", "aten::lift_fresh",
                "aten::lift_fresh_copy", "aten::lift", "aten::resolve_conj", "aten::resolve_neg",
                "aten::real", "aten::conj", "aten::_conj", "aten::conj_physical"},
               [](OpContext& context) { return context.tensor("self"); });
}

}  // namespace

void register_arithmetic(GeneratorRegistry& registry) {
  add_expressions(registry);
  registry.add({"aten::add.Tensor", "aten::add.Scalar"}, generate_add);
  registry.add({"aten::sub.Tensor", "aten::sub.Scalar"}, generate_sub);
  registry.add({"aten::rsub.Tensor", "aten::rsub.Scalar"}, generate_rsub);
  registry.add({"aten::mul.Tensor", "aten::mul.Scalar"}, generate_mul);
  registry.add(
      {"aten::div.Tensor", "aten::div.Scalar", "aten::div.Tensor_mode", "aten::div.Scalar_mode"},
      generate_div);
  registry.add({"aten::floor_divide", "aten::floor_divide.Scalar"},
               [](OpContext& context) { return divided(context, "floor"); });
  registry.add({"aten::fmod.Tensor", "aten::fmod.Scalar"},
               [](OpContext& context) { return generate_rest(context, "fmod"); });
  registry.add(
      {"aten::remainder.Tensor", "aten::remainder.Scalar", "aten::remainder.Scalar_Tensor"},
      [](OpContext& context) { return generate_rest(context, "remainder"); });
  registry.add(
      {"aten::clamp", "aten::clamp.Tensor", "aten::clip", "aten::clip.Tensor", "aten::clamp_min",
       "aten::clamp_min.Tensor", "aten::clamp_max", "aten::clamp_max.Tensor"},
      [](OpContext& context) { return generate_clamp(context, "min", "max"); });
  registry.add({"aten::addcmul"}, [](OpContext& context) { return generate_addc(context, "*"); });
  registry.add({"aten::addcdiv"}, [](OpContext& context) { return generate_addc(context, "/"); });
  registry.add({"aten::where.self", "aten::where.ScalarOther", "aten::where.ScalarSelf",
                "aten::where.Scalar"},
               generate_where);
  registry.add({"aten::masked_fill.Scalar", "aten::masked_fill.Tensor"}, generate_masked_fill);
  registry.add({"aten::nan_to_num"}, generate_nan_to_num);
  registry.add({"aten::round.decimals"}, generate_round_decimals);
  registry.add({"aten::isclose"}, generate_isclose);
  registry.add({"aten::deg2rad"}, multiple(0.017453292519943295));
  registry.add({"aten::rad2deg"}, multiple(57.29577951308232));
  registry.add({"aten::gelu"}, generate_gelu);
  registry.add({"aten::logit", "aten::special_logit"}, generate_logit);
  registry.add({"aten::glu"}, generate_glu);
  registry.add({"aten::ldexp.Tensor"}, generate_ldexp);
}

}  // namespace leapp::cpp_export
