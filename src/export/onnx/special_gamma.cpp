// The gamma function's relatives and Hurwitz's zeta function.
#include <cmath>
#include <numbers>

#include "export/onnx/math.h"
#include "export/onnx/registry.h"
#include "export/onnx/special.h"

namespace leapp::onnx_export {
namespace {

constexpr double kPi = std::numbers::pi;
// From here on asymptotic series are used; smaller arguments are shifted up.
constexpr int kShift = 10;
// B_2, B_4, ..
constexpr std::array kBernoulli = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                   5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510};

}  // namespace

Value sin_pi(Value x) {
  // sin(pi x) = (-1)^n sin(pi (x - n))
  const Value turn = round(x);
  const Value odd = not_equal(floor(turn * 0.5) * 2.0, turn);
  const Value reduced = sin((x - turn) * kPi);
  return where(odd, -reduced, reduced);
}

namespace {

/// Returns cot(pi x)
Value cot_pi(Value x) {
  const Value reduced = (x - round(x)) * kPi;
  return cos(reduced) / sin(reduced);
}

struct Shifted {
  Value small;  // true if the argument was shifted
  Value base;   // the argument if it was shifted, otherwise 1
  Value z;      // the shifted argument
};

Shifted shifted(Value y) {
  const Value small = y < static_cast<double>(kShift);
  return {small, where(small, y, 1.0), where(small, y + static_cast<double>(kShift), y)};
}

/// Computes for y of at least 0.5.
Value lgamma_positive(Value y) {
  const Shifted s = shifted(y);
  Value product = s.base;
  for (int i = 1; i < kShift; ++i) product = product * (s.base + static_cast<double>(i));
  const Value r = reciprocal(s.z);
  const Value r2 = square(r);
  Value series;
  for (std::size_t k = kBernoulli.size(); k-- > 0;) {
    const auto n = static_cast<double>(2 * (k + 1));
    const double term = kBernoulli[k] / (n * (n - 1.0));
    series = series.defined() ? series * r2 + term : full(y.builder(), y.type(), term);
  }
  const Value stirling = (s.z - 0.5) * log(s.z) - s.z + 0.5 * std::log(2.0 * kPi) + series * r;
  return where(s.small, stirling - log(product), stirling);
}

Value digamma_positive(Value y) {
  const Shifted s = shifted(y);
  Value steps = reciprocal(s.base);
  for (int i = 1; i < kShift; ++i) steps = steps + reciprocal(s.base + static_cast<double>(i));
  const Value r2 = square(reciprocal(s.z));
  Value series;
  for (std::size_t k = kBernoulli.size(); k-- > 0;) {
    const double term = kBernoulli[k] / static_cast<double>(2 * (k + 1));
    series = series.defined() ? series * r2 + term : full(y.builder(), y.type(), term);
  }
  const Value high = log(s.z) - 0.5 / s.z - series * r2;
  return where(s.small, high - steps, high);
}

Value digamma(Value x) {
  const Value mirrored = x < 0.5;
  const Value plain = digamma_positive(where(mirrored, 1.0 - x, x));
  const Value value = where(mirrored, plain - cot_pi(x) * kPi, plain);
  const Value pole = x < 0.0 && equal(round(x), x);
  const Value at_zero = copysign(full(x.builder(), x.type(), INFINITY), -x);
  return where(pole, NAN, where(equal(x, 0.0), at_zero, value));
}

/// Returns the sum over i of (q + i)^-s for positive q: Euler-Maclaurin from the kShift-th term on.
Value zeta_tail(Value s, Value q) {
  const Value power = pow(q, -s);
  Value sum = pow(q, 1.0 - s) / (s - 1.0) + power * 0.5;
  Value rising = s;  // s (s + 1) .. (s + 2k - 2) / (2k)!
  Value scale = power / q;
  double factorial = 2.0;
  for (std::size_t k = 0; k < kBernoulli.size(); ++k) {
    sum = sum + rising * scale * (kBernoulli[k] / factorial);
    const auto n = static_cast<double>(2 * k + 1);
    rising = rising * (s + n) * (s + (n + 1.0));
    scale = scale / square(q);
    factorial *= (n + 2.0) * (n + 3.0);
  }
  return sum;
}

Value zeta_positive(Value s, Value q) {
  Value sum = pow(q, -s);
  for (int i = 1; i < kShift; ++i) sum = sum + pow(q + static_cast<double>(i), -s);
  return sum + zeta_tail(s, q + static_cast<double>(kShift));
}

/// Returns Hurwitz's zeta function. Below zero, where it is defined only for integers s, terms are
/// added until the rest is positive; their number is known only at run time.
Value zeta(Value s, Value q) {
  Builder& builder = s.builder();
  const Shape shape = broadcast(s.shape(), q.shape());
  s = expand(s, shape);
  q = expand(q, shape);
  const Value below = maximum(ceil(-q), scalar_like(q, 0));
  const Value safe = where(is_nan(below) || is_inf(below), 0.0, below);
  const Value rounds = cast(amax(reshape(safe, {safe.count()}), {}), DType::kInt64);
  const std::vector<Value> added =
      builder.loop(rounds, {full(builder, q.type(), 0)},
                   [&](Value round, const std::vector<Value>& state) -> std::vector<Value> {
                     const Value i = cast(round, DType::kFloat64);
                     return {where(i < safe, state[0] + pow(q + i, -s), state[0])};
                   });
  const Value sum = added[0] + zeta_positive(s, q + safe);
  const Value whole_s = equal(floor(s), s);
  const Value at_pole = equal(floor(q), q);
  const Value low = where(at_pole, INFINITY, where(whole_s, sum, NAN));
  const Value value = where(q <= 0.0, low, sum);
  return where(s < 1.0, NAN, where(equal(s, 1.0), INFINITY, value));
}

Value convert_zeta(OpContext& context) {
  const Value result = zeta(special_operand(context, "self"), special_operand(context, "other"));
  return cast(result, context.result_dtype());
}

/// Returns the n-th derivative of cot(pi x) over pi^n, as a polynomial in the cotangent.
std::vector<double> cotangent_derivative(std::int64_t n) {
  std::vector<double> p = {0.0, 1.0};  // lowest power first
  for (std::int64_t step = 0; step < n; ++step) {
    std::vector<double> next(p.size() + 1, 0.0);
    for (std::size_t k = 1; k < p.size(); ++k) {
      const double derivative = p[k] * static_cast<double>(k);
      next[k - 1] -= derivative;
      next[k + 1] -= derivative;
    }
    p = std::move(next);
  }
  return {p.rbegin(), p.rend()};
}

Value polygamma(std::int64_t n, Value x) {
  if (n == 0) return digamma(x);
  const double sign_n = n % 2 == 0 ? 1.0 : -1.0;
  const Value mirrored = x < 0.5;
  const Value y = where(mirrored, 1.0 - x, x);
  const Value s = scalar_like(x, static_cast<double>(n) + 1.0);
  const Value plain = zeta_positive(s, y) * (-sign_n * std::tgamma(static_cast<double>(n) + 1.0));
  const Value slope =
      polynomial(cot_pi(x), cotangent_derivative(n)) * std::pow(kPi, static_cast<double>(n) + 1.0);
  const Value value = where(mirrored, plain * sign_n - slope, plain);
  const Value pole = x <= 0.0 && equal(round(x), x);
  return where(pole, -sign_n * INFINITY, value);
}

Value convert_polygamma(OpContext& context) {
  const Value x = special_operand(context, "self");
  return cast(polygamma(context.integer("n"), x), context.result_dtype());
}

Value convert_mvlgamma(OpContext& context) {
  const Value x = special_operand(context, "self");
  const std::int64_t p = context.integer("p");
  Value sum =
      full(context.builder(), x.type(), static_cast<double>(p * (p - 1)) / 4.0 * std::log(kPi));
  for (std::int64_t j = 0; j < p; ++j) sum = sum + lgamma(x - static_cast<double>(j) / 2.0);
  return cast(sum, context.result_dtype());
}

/// Returns the regularised incomplete gamma functions, by a series below x = a + 1 and a continued
/// fraction above. Both need about as many steps as the square root of the larger argument.
Value incomplete_gamma(Value a, Value x, bool upper) {
  Builder& builder = a.builder();
  const Shape shape = broadcast(a.shape(), x.shape());
  a = expand(a, shape);
  x = expand(x, shape);
  const Value usable = a > 0.0 && x > 0.0 && !is_inf(a) && !is_inf(x);
  const Value a_safe = where(usable, a, 1.0);
  const Value x_safe = where(usable, x, 1.0);
  const Value by_series = x_safe < a_safe + 1.0;
  const Value largest = amax(reshape(a_safe, {a_safe.count()}), {});
  const Value rounds = cast(sqrt(largest) * 9.0 + 60.0, DType::kInt64);
  // Series: sum and last term. Fraction (Lentz): f, C, D.
  constexpr double kTiny = 1e-300;
  const Value first = x_safe - a_safe + 1.0;
  const Value start = where(equal(first, 0.0), kTiny, first);
  const Value one = full(builder, a.type(), 1);
  const std::vector<Value> done =
      builder.loop(rounds, {one, one, start, start, full(builder, a.type(), 0)},
                   [&](Value round, const std::vector<Value>& state) -> std::vector<Value> {
                     const Value n = cast(round, DType::kFloat64) + 1.0;
                     const Value term = state[1] * x_safe / (a_safe + n);
                     const Value numerator = n * (a_safe - n);
                     const Value b = first + n * 2.0;
                     Value d = b + numerator * state[4];
                     d = reciprocal(where(equal(d, 0.0), kTiny, d));
                     Value c = b + numerator / state[3];
                     c = where(equal(c, 0.0), kTiny, c);
                     return {state[0] + term, term, state[2] * c * d, c, d};
                   });
  const Value front = exp(a_safe * log(x_safe) - x_safe - lgamma(a_safe));
  const Value lower_part = front * done[0] / a_safe;
  const Value upper_part = front / done[2];
  const Value p = where(by_series, lower_part, 1.0 - upper_part);
  const Value q = where(by_series, 1.0 - lower_part, upper_part);
  const Value inside = upper ? q : p;
  // The ends of both ranges, tested in PyTorch's order.
  const Value none = scalar_like(x, upper ? 1 : 0);
  const Value whole = scalar_like(x, upper ? 0 : 1);
  Value result = where(is_nan(a) || is_nan(x), NAN, inside);
  result = where(is_inf(x), whole, result);
  result = where(is_inf(a), where(is_inf(x), NAN, none), result);
  result = where(equal(x, 0.0), none, result);
  result = where(equal(a, 0.0), where(x > 0.0, whole, NAN), result);
  return where(a < 0.0 || x < 0.0, NAN, result);
}

auto incomplete(bool upper) {
  return [upper](OpContext& context) -> Value {
    const Value result = incomplete_gamma(special_operand(context, "self"),
                                          special_operand(context, "other"), upper);
    return cast(result, context.result_dtype());
  };
}

}  // namespace

Value lgamma(Value x) {
  const Value mirrored = x < 0.5;
  const Value plain = lgamma_positive(where(mirrored, 1.0 - x, x));
  const Value value = where(mirrored, std::log(kPi) - log(abs(sin_pi(x))) - plain, plain);
  return where(is_inf(x), INFINITY, value);
}

void register_special_gamma(ConverterRegistry& registry) {
  registry.add({"aten::lgamma", "aten::special_gammaln"}, special(lgamma));
  registry.add({"aten::digamma", "aten::special_digamma", "aten::special_psi"}, special(digamma));
  registry.add({"aten::polygamma", "aten::special_polygamma"}, convert_polygamma);
  registry.add({"aten::mvlgamma", "aten::special_multigammaln"}, convert_mvlgamma);
  registry.add(
      {"aten::special_zeta", "aten::special_zeta.self_scalar", "aten::special_zeta.other_scalar"},
      convert_zeta);
  registry.add({"aten::igamma", "aten::special_gammainc"}, incomplete(false));
  registry.add({"aten::igammac", "aten::special_gammaincc"}, incomplete(true));
}

}  // namespace leapp::onnx_export
