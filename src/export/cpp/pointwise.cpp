// Element-wise operators whose operands all have one type, as a table.
#include "export/cpp/pointwise.h"

#include "export/cpp/registry.h"

namespace leapp::cpp_export {
namespace {

// A template with "$0", "$1", .. for the texts of the operands.
std::string substituted(const std::string& pattern, const std::vector<std::string>& texts) {
  std::string result;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '$') {
      result += pattern[i];
    } else {
      result += texts.at(static_cast<std::size_t>(pattern[++i] - '0'));
    }
  }
  return result;
}

void add_row(GeneratorRegistry& registry, const Row& row) {
  for (const std::string& name : row.names) {
    registry.add("aten::" + name, [row](OpContext& context) {
      const DType type =
          row.type == RowType::kResult ? context.result_dtype() : context.promoted(row.operands);
      std::vector<Value> operands;
      for (const std::string_view parameter : row.operands) {
        operands.push_back(context.operand(parameter, type));
      }
      return apply(context, row.text, std::move(operands), row.kernel);
    });
  }
}

const std::vector<Row>& functions_of_one() {
  static const std::vector<Row> kRows = {
      {{"abs", "absolute"}, {"self"}, "abs($0)", "math.h"},
      {{"neg", "negative"}, {"self"}, "negative($0)", ""},
      {{"exp"}, {"self"}, "exp($0)", "math.h"},
      {{"exp2", "special_exp2"}, {"self"}, "exp2($0)", "math.h"},
      {{"expm1", "special_expm1"}, {"self"}, "expm1($0)", "math.h"},
      {{"log"}, {"self"}, "log($0)", "math.h"},
      {{"log2"}, {"self"}, "log2($0)", "math.h"},
      {{"log10"}, {"self"}, "log10($0)", "math.h"},
      {{"log1p", "special_log1p"}, {"self"}, "log1p($0)", "math.h"},
      {{"sqrt"}, {"self"}, "sqrt($0)", "math.h"},
      {{"rsqrt"}, {"self"}, "rsqrt($0)", "math.h"},
      {{"sin"}, {"self"}, "sin($0)", "math.h"},
      {{"cos"}, {"self"}, "cos($0)", "math.h"},
      {{"tan"}, {"self"}, "tan($0)", "math.h"},
      {{"asin", "arcsin"}, {"self"}, "asin($0)", "math.h"},
      {{"acos", "arccos"}, {"self"}, "acos($0)", "math.h"},
      {{"atan", "arctan"}, {"self"}, "atan($0)", "math.h"},
      {{"sinh"}, {"self"}, "sinh($0)", "math.h"},
      {{"cosh"}, {"self"}, "cosh($0)", "math.h"},
      {{"tanh"}, {"self"}, "tanh($0)", "math.h"},
      {{"asinh", "arcsinh"}, {"self"}, "asinh($0)", "math.h"},
      {{"acosh", "arccosh"}, {"self"}, "acosh($0)", "math.h"},
      {{"atanh", "arctanh"}, {"self"}, "atanh($0)", "math.h"},
      {{"erf", "special_erf"}, {"self"}, "erf($0)", "math.h"},
      {{"erfc", "special_erfc"}, {"self"}, "erfc($0)", "math.h"},
      {{"lgamma", "special_gammaln"}, {"self"}, "lgamma($0)", "math.h"},
      {{"erfinv", "special_erfinv"}, {"self"}, "erfinv($0)", "special.h"},
      {{"digamma", "special_digamma", "special_psi"}, {"self"}, "digamma($0)", "special.h"},
      {{"special_ndtr"}, {"self"}, "normal_below($0)", "special.h"},
      {{"special_log_ndtr"}, {"self"}, "log_normal_below($0)", "special.h"},
      {{"floor"}, {"self"}, "floor($0)", "math.h"},
      {{"ceil"}, {"self"}, "ceil($0)", "math.h"},
      {{"trunc", "fix"}, {"self"}, "trunc($0)", "math.h"},
      {{"round"}, {"self"}, "round($0)", "math.h"},
      {{"sign", "sgn"}, {"self"}, "sign($0)", "math.h"},
      {{"special_entr"}, {"self"}, "entropy($0)", "math.h"},
      {{"sinc", "special_sinc"}, {"self"}, "sinc($0)", "math.h"},
      {{"bitwise_not"}, {"self"}, "bit_not($0)", "math.h"},
      {{"relu"}, {"self"}, "relu($0)", "activation.h"},
      {{"sigmoid", "special_expit"}, {"self"}, "sigmoid($0)", "activation.h"},
      {{"silu"}, {"self"}, "silu($0)", "activation.h"},
      {{"mish"}, {"self"}, "mish($0)", "activation.h"},
      {{"hardsigmoid"}, {"self"}, "hardsigmoid($0)", "activation.h"},
      {{"hardswish"}, {"self"}, "hardswish($0)", "activation.h"},
      {{"log_sigmoid"}, {"self"}, "log_sigmoid($0)", "activation.h"},
  };
  return kRows;
}

const std::vector<Row>& functions_of_two() {
  static const std::vector<Row> kRows = {
      {{"atan2", "arctan2"}, {"self", "other"}, "atan2($0, $1)", "math.h"},
      {{"hypot"}, {"self", "other"}, "hypot($0, $1)", "math.h"},
      {{"copysign.Tensor", "copysign.Scalar"}, {"self", "other"}, "copysign($0, $1)", "math.h"},
      {{"nextafter"}, {"self", "other"}, "nextafter($0, $1)", "math.h"},
      {{"maximum", "max.other"}, {"self", "other"}, "maximum($0, $1)", ""},
      {{"minimum", "min.other"}, {"self", "other"}, "minimum($0, $1)", ""},
      {{"fmax"}, {"self", "other"}, "fmaximum($0, $1)", "math.h"},
      {{"fmin"}, {"self", "other"}, "fminimum($0, $1)", "math.h"},
      {{"pow.Tensor_Tensor", "pow.Tensor_Scalar", "pow.Scalar", "float_power.Scalar",
        "float_power.Tensor_Scalar", "float_power.Tensor_Tensor"},
       {"self", "exponent"},
       "power($0, $1)",
       "math.h"},
      {{"lerp.Scalar", "lerp.Tensor"}, {"self", "end", "weight"}, "lerp($0, $1, $2)", "math.h"},
      {{"logaddexp"}, {"self", "other"}, "logaddexp($0, $1)", "math.h"},
      {{"logaddexp2"}, {"self", "other"}, "logaddexp2($0, $1)", "math.h"},
      {{"xlogy.Tensor", "xlogy.Scalar_Other", "xlogy.Scalar_Self", "special_xlogy",
        "special_xlogy.other_scalar", "special_xlogy.self_scalar"},
       {"self", "other"},
       "xlogy($0, $1)",
       "math.h"},
      {{"special_xlog1py", "special_xlog1py.other_scalar", "special_xlog1py.self_scalar"},
       {"self", "other"},
       "xlog1py($0, $1)",
       "math.h"},
      {{"heaviside"}, {"self", "values"}, "heaviside($0, $1)", "math.h"},
      {{"gcd"}, {"self", "other"}, "gcd($0, $1)", "math.h"},
      {{"lcm"}, {"self", "other"}, "lcm($0, $1)", "math.h"},
      {{"bitwise_and.Tensor", "bitwise_and.Scalar", "bitwise_and.Scalar_Tensor", "__and__.Tensor",
        "__and__.Scalar"},
       {"self", "other"},
       "bit_and($0, $1)",
       "math.h"},
      {{"bitwise_or.Tensor", "bitwise_or.Scalar", "bitwise_or.Scalar_Tensor", "__or__.Tensor",
        "__or__.Scalar"},
       {"self", "other"},
       "bit_or($0, $1)",
       "math.h"},
      {{"bitwise_xor.Tensor", "bitwise_xor.Scalar", "bitwise_xor.Scalar_Tensor", "__xor__.Tensor",
        "__xor__.Scalar"},
       {"self", "other"},
       "bit_xor($0, $1)",
       "math.h"},
      {{"bitwise_left_shift.Tensor", "bitwise_left_shift.Tensor_Scalar",
        "bitwise_left_shift.Scalar_Tensor", "__lshift__.Tensor", "__lshift__.Scalar"},
       {"self", "other"},
       "shift_left($0, $1)",
       "math.h"},
      {{"bitwise_right_shift.Tensor", "bitwise_right_shift.Tensor_Scalar",
        "bitwise_right_shift.Scalar_Tensor", "__rshift__.Tensor", "__rshift__.Scalar"},
       {"self", "other"},
       "shift_right($0, $1)",
       "math.h"},
  };
  return kRows;
}

const std::vector<Row>& activations_with_numbers() {
  static const std::vector<Row> kRows = {
      {{"elu"}, {"self", "alpha", "scale", "input_scale"}, "elu($0, $1, $2, $3)", "activation.h"},
      {{"celu"}, {"self", "alpha"}, "celu($0, $1)", "activation.h"},
      {{"leaky_relu"}, {"self", "negative_slope"}, "leaky_relu($0, $1)", "activation.h"},
      {{"_prelu_kernel"}, {"self", "weight"}, "leaky_relu($0, $1)", "activation.h"},
      {{"hardtanh"}, {"self", "min_val", "max_val"}, "clamp($0, $1, $2)", "activation.h"},
      {{"softplus"}, {"self", "beta", "threshold"}, "softplus($0, $1, $2)", "activation.h"},
      {{"threshold"}, {"self", "threshold", "value"}, "threshold($0, $1, $2)", "activation.h"},
      {{"hardshrink"}, {"self", "lambd"}, "hardshrink($0, $1)", "activation.h"},
      {{"softshrink"}, {"self", "lambd"}, "softshrink($0, $1)", "activation.h"},
  };
  return kRows;
}

const std::vector<Row>& comparisons() {
  constexpr RowType kPromoted = RowType::kPromoted;
  static const std::vector<Row> kRows = {
      {{"eq.Tensor", "eq.Scalar"}, {"self", "other"}, "equal($0, $1)", "", kPromoted},
      {{"ne.Tensor", "ne.Scalar", "not_equal.Tensor", "not_equal.Scalar"},
       {"self", "other"},
       "!equal($0, $1)",
       "",
       kPromoted},
      {{"lt.Tensor", "lt.Scalar", "less.Tensor", "less.Scalar"},
       {"self", "other"},
       "less($0, $1)",
       "",
       kPromoted},
      {{"le.Tensor", "le.Scalar", "less_equal.Tensor", "less_equal.Scalar"},
       {"self", "other"},
       "less_equal($0, $1)",
       "",
       kPromoted},
      {{"gt.Tensor", "gt.Scalar", "greater.Tensor", "greater.Scalar"},
       {"self", "other"},
       "less($1, $0)",
       "",
       kPromoted},
      {{"ge.Tensor", "ge.Scalar", "greater_equal.Tensor", "greater_equal.Scalar"},
       {"self", "other"},
       "less_equal($1, $0)",
       "",
       kPromoted},
      {{"isnan"}, {"self"}, "is_nan($0)", "math.h", kPromoted},
      {{"isinf"}, {"self"}, "is_infinite($0)", "math.h", kPromoted},
      {{"isfinite"}, {"self"}, "is_finite($0)", "math.h", kPromoted},
      {{"isposinf"}, {"self"}, "(is_infinite($0) && !has_sign($0))", "math.h", kPromoted},
      {{"isneginf"}, {"self"}, "(is_infinite($0) && has_sign($0))", "math.h", kPromoted},
      {{"signbit"}, {"self"}, "has_sign($0)", "math.h", kPromoted},
      // For bool, to which all types convert.
      {{"logical_and"}, {"self", "other"}, "bit_and($0, $1)", "math.h"},
      {{"logical_or"}, {"self", "other"}, "bit_or($0, $1)", "math.h"},
      {{"logical_xor"}, {"self", "other"}, "bit_xor($0, $1)", "math.h"},
      {{"logical_not"}, {"self"}, "!$0", ""},
  };
  return kRows;
}

}  // namespace

Value apply(OpContext& context, const std::string& text, std::vector<Value> operands,
            const std::string& kernel) {
  if (!kernel.empty()) context.program().use_kernel(kernel);
  for (Value& operand : operands) {
    // A broadcast operand would otherwise be computed once per output element.
    if (operand.count() < element_count(context.result_shape())) {
      operand = context.program().cheap(operand);
    }
  }
  return pointwise(
      context.result_dtype(), context.result_shape(), std::move(operands),
      [text](const std::vector<std::string>& texts) { return substituted(text, texts); });
}

Value combine(const std::string& text, std::vector<Value> operands, DType dtype) {
  Shape shape;
  for (const Value& operand : operands) shape = broadcast_shape(shape, operand.shape);
  return pointwise(
      dtype, shape, std::move(operands),
      [text](const std::vector<std::string>& texts) { return substituted(text, texts); });
}

void register_pointwise(GeneratorRegistry& registry) {
  for (const auto* rows :
       {&functions_of_one(), &functions_of_two(), &activations_with_numbers(), &comparisons()}) {
    for (const Row& row : *rows) add_row(registry, row);
  }
}

}  // namespace leapp::cpp_export
