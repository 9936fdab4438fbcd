// Orthogonal polynomials whose degree may be a tensor, by their recurrences.
#include <cmath>
#include <functional>

#include "export/onnx/registry.h"
#include "export/onnx/special.h"

namespace leapp::onnx_export {
namespace {

/// One family of polynomials: its value for degree 1, and its recurrence for degree k + 1 from
/// degrees k and k - 1.
struct Family {
  std::function<Value(Value x)> first;
  std::function<Value(Value x, Value k, Value now, Value before)> next;
  bool shifted = false;       ///< of 2 x - 1 instead of x
  double highest = INFINITY;  ///< PyTorch returns NaN above this degree
};

Value chebyshev_next(Value x, Value, Value now, Value before) {
  return x * 2.0 * now - before;
}

auto convert(Family family) {
  return [family](OpContext& context) -> Value {
    Builder& builder = context.builder();
    const Shape& shape = context.result_shape();
    Value x = expand(special_operand(context, "x"), shape);
    if (family.shifted) x = x * 2.0 - 1.0;
    const Value degree = expand(special_operand(context, "n"), shape);
    const Value whole = where(degree < 0.0, ceil(degree), floor(degree));
    const Value rounds = cast(
        maximum(amax(reshape(whole, {whole.count()}), {}) - 1.0, scalar_like(x, 0)), DType::kInt64);
    const Value one = full(builder, x.type(), 1);
    const std::vector<Value> done =
        builder.loop(rounds, {one, family.first(x)},
                     [&](Value round, const std::vector<Value>& state) -> std::vector<Value> {
                       const Value k = cast(round, DType::kFloat64) + 1.0;
                       const Value next = family.next(x, k, state[1], state[0]);
                       const Value goes_on = whole > k;
                       return {where(goes_on, state[1], state[0]), where(goes_on, next, state[1])};
                     });
    Value value = where(equal(whole, 0.0), 1.0, where(whole < 0.0, 0.0, done[1]));
    if (!std::isinf(family.highest)) value = where(whole > family.highest, NAN, value);
    return cast(value, context.result_dtype());
  };
}

void add(ConverterRegistry& registry, const std::string& name, const Family& family) {
  for (const char* overload : {"", ".x_scalar", ".n_scalar"}) {
    registry.add("aten::special_" + name + overload, convert(family));
  }
}

}  // namespace

void register_special_polynomial(ConverterRegistry& registry) {
  const auto x = [](Value v) { return v; };
  const auto twice = [](Value v) { return v * 2.0; };
  const auto less = [](Value v) { return v * 2.0 - 1.0; };
  const auto more = [](Value v) { return v * 2.0 + 1.0; };
  for (const bool shifted : {false, true}) {
    const std::string prefix = shifted ? "shifted_chebyshev_polynomial_" : "chebyshev_polynomial_";
    add(registry, prefix + "t", {x, chebyshev_next, shifted});
    add(registry, prefix + "u", {twice, chebyshev_next, shifted});
    add(registry, prefix + "v", {less, chebyshev_next, shifted});
    add(registry, prefix + "w", {more, chebyshev_next, shifted});
  }
  constexpr double kHermiteLimit = 128;
  add(registry, "hermite_polynomial_h",
      {twice,
       [](Value v, Value k, Value now, Value before) { return v * 2.0 * now - k * 2.0 * before; },
       false, kHermiteLimit});
  add(registry, "hermite_polynomial_he",
      {x, [](Value v, Value k, Value now, Value before) { return v * now - k * before; }, false,
       kHermiteLimit});
  add(registry, "laguerre_polynomial_l",
      {[](Value v) { return 1.0 - v; },
       [](Value v, Value k, Value now, Value before) {
         return ((k * 2.0 + 1.0 - v) * now - k * before) / (k + 1.0);
       }});
  add(registry, "legendre_polynomial_p", {x, [](Value v, Value k, Value now, Value before) {
                                            return ((k * 2.0 + 1.0) * v * now - k * before) /
                                                   (k + 1.0);
                                          }});
}

}  // namespace leapp::onnx_export
