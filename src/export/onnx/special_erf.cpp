// The error function's relatives.
#include <cmath>
#include <numbers>

#include "export/onnx/math.h"
#include "export/onnx/registry.h"
#include "export/onnx/special.h"
#include "export/onnx/special_tables.h"

namespace leapp::onnx_export {
namespace {

/// Returns erfcx of the magnitude of x.
Value erfcx_of_size(Value size) {
  const Value t = 1.0 - 6.0 / (size + 3.0);  // (x - 3) / (x + 3), also at infinity
  return polynomial(t, tables::kErfcxByRatio) / (size * 2.0 + 1.0);
}

Value erfinv(Value x) {
  const Value square_x = square(x);
  const Value middle = x * polynomial_over(square_x, 0, 0.5, tables::kErfinvSmall);
  const Value size = abs(x);
  const Value rest = (1.0 - size) * (1.0 + size);
  const Value s = sqrt(-log(rest));
  const Value tail = copysign(polynomial_over(s, 0.8, 4.2, tables::kErfinvTail), x);
  const Value inside = where(square_x <= 0.5, middle, tail);
  const Value at_end =
      where(equal(size, 1.0), copysign(full(x.builder(), x.type(), INFINITY), x), inside);
  return where(size > 1.0, NAN, at_end);
}

Value ndtri(Value p) {
  const Value d = p - 0.5;
  const Value middle = d * polynomial_over(square(d), 0, 0.17, tables::kNdtriMiddle);
  const Value least = minimum(p, 1.0 - p);
  const Value s = sqrt(log(least) * -2.0);
  const Value tail = where(s <= 5.0, polynomial_over(s, 2.1, 5, tables::kNdtriTail),
                           polynomial_over(s, 5, 14.5, tables::kNdtriFarTail));
  const Value outer = where(d < 0.0, -tail, tail);
  const Value inside = where(least > 0.1, middle, outer);
  const Value ends = where(equal(p, 0.0), -INFINITY, where(equal(p, 1.0), INFINITY, inside));
  return where(p < 0.0 || p > 1.0 || is_nan(p), NAN, ends);
}

Value log_ndtr(Value x) {
  const Value scaled = x / std::numbers::sqrt2;
  const Value low = log(erfcx(-scaled) / 2.0) - square(scaled);
  const Value high = log1p(erfc(scaled) / -2.0);
  return where(x < -1.0, low, high);
}

/// Returns a converter for functions that are exact in double precision.
auto precise(Value (*function)(Value)) {
  return [function](OpContext& context) -> Value {
    const Value x = cast(cast(context.tensor("self"), context.result_dtype()), DType::kFloat64);
    return cast(function(x), context.result_dtype());
  };
}

Value ndtr(Value x) {
  return erfc(-x / std::numbers::sqrt2) / 2.0;
}

Value entr(Value x) {
  const Value inside = where(equal(x, 0.0), 0.0, -x * log(x));
  return where(x < 0.0, -INFINITY, inside);
}

}  // namespace

Value polynomial(Value t, std::span<const double> coefficients) {
  Value sum = t * coefficients[0] + coefficients[1];
  for (const double coefficient : coefficients.subspan(2)) sum = sum * t + coefficient;
  return sum;
}

Value polynomial_over(Value x, double low, double high, std::span<const double> coefficients) {
  const double scale = 2.0 / (high - low);
  return polynomial(x * scale - (low * scale + 1.0), coefficients);
}

Value special_operand(OpContext& context, std::string_view parameter) {
  context.need(context.result_dtype() != DType::kFloat64,
               "it is exact only in single precision, but this tensor is float64",
               "Convert to float32 first, or export the node with export_with='jit'.");
  return cast(cast(context.operand(parameter), context.result_dtype()), DType::kFloat64);
}

Value erfcx(Value x) {
  const Value positive = erfcx_of_size(abs(x));
  return where(x < 0.0, exp(square(x)) * 2.0 - positive, positive);
}

Value erfc(Value x) {
  const Value tail = exp(-square(x)) * erfcx_of_size(abs(x));
  return where(x < 0.0, 2.0 - tail, tail);
}

void register_special_erf(ConverterRegistry& registry) {
  registry.add({"aten::erfc", "aten::special_erfc"}, precise(erfc));
  registry.add({"aten::erfinv", "aten::special_erfinv"}, special(erfinv));
  registry.add("aten::special_erfcx", precise(erfcx));
  registry.add("aten::special_ndtri", special(ndtri));
  registry.add("aten::special_ndtr", precise(ndtr));
  registry.add("aten::special_log_ndtr", special(log_ndtr));
  registry.add("aten::special_entr", [](OpContext& context) -> Value {
    return entr(cast(context.tensor("self"), context.result_dtype()));
  });
}

}  // namespace leapp::onnx_export
