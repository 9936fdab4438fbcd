// Bessel functions and Airy's.
#include <cmath>
#include <numbers>

#include "export/onnx/math.h"
#include "export/onnx/registry.h"
#include "export/onnx/special.h"
#include "export/onnx/special_tables.h"

namespace leapp::onnx_export {
namespace {

using namespace tables;

constexpr double kPi = std::numbers::pi;

/// Returns exp(-|x|) I0(x)
Value i0e(Value x) {
  const Value size = abs(x);
  const Value high = polynomial_over(8.0 / size, 0, 1, kI0eHigh) / sqrt(size);
  const Value middle = where(size <= 8.0, polynomial_over(size, 4, 8, kI0eMiddle), high);
  return where(size <= 4.0, polynomial_over(size, 0, 4, kI0eLow), middle);
}

/// Returns exp(-|x|) I1(x)
Value i1e(Value x) {
  const Value size = abs(x);
  const Value high = polynomial_over(8.0 / size, 0, 1, kI1eHigh) / sqrt(size);
  const Value middle = where(size <= 8.0, size * polynomial_over(size, 4, 8, kI1eMiddle), high);
  const Value positive = where(size <= 4.0, size * polynomial_over(size, 0, 4, kI1eLow), middle);
  return where(x < 0.0, -positive, positive);
}

// At infinity PyTorch's own product of infinity and zero is NaN, and so is this.
Value i0(Value x) {
  return exp(abs(x)) * i0e(x);
}

Value i1(Value x) {
  return exp(abs(x)) * i1e(x);
}

/// Joins K for x up to 2 and beyond, including both ends; `scaled` multiplies by exp(x).
Value join_k(Value x, Value low, Value high, bool scaled) {
  const Value near = scaled ? low * exp(x) : low;
  const Value far = scaled ? high : high * exp(-x);
  const Value value = where(x <= 2.0, near, far);
  return where(x < 0.0, NAN, where(equal(x, 0.0), INFINITY, value));
}

Value k0(Value x, bool scaled) {
  const Value low = polynomial_over(square(x), 0, 4, kK0Low) - log(x / 2.0) * i0(x);
  return join_k(x, low, polynomial_over(2.0 / x, 0, 1, kK0High) / sqrt(x), scaled);
}

Value k1(Value x, bool scaled) {
  const Value low = polynomial_over(square(x), 0, 4, kK1Low) / x + log(x / 2.0) * i1(x);
  return join_k(x, low, polynomial_over(2.0 / x, 0, 1, kK1High) / sqrt(x), scaled);
}

struct Hankel {
  Value p;
  Value q;
  Value angle;
  Value scale;
};

Hankel hankel(Value size, int order) {
  const Value ratio = 8.0 / size;
  const Value u = square(ratio);
  return {polynomial_over(u, 0, 1, order == 0 ? std::span<const double>(kP0) : kP1),
          polynomial_over(u, 0, 1, order == 0 ? std::span<const double>(kQ0) : kQ1) * ratio,
          size - kPi / 4 - order * kPi / 2, sqrt(2.0 / kPi / size)};
}

Value j_far(const Hankel& h) {
  return h.scale * (h.p * cos(h.angle) - h.q * sin(h.angle));
}
Value y_far(const Hankel& h) {
  return h.scale * (h.p * sin(h.angle) + h.q * cos(h.angle));
}

Value in_two(Value square_x, std::span<const double> low, std::span<const double> middle) {
  return where(square_x <= 16.0, polynomial_over(square_x, 0, 16, low),
               polynomial_over(square_x, 16, 64, middle));
}

Value j0(Value x) {
  const Value size = abs(x);
  return where(size <= 8.0, in_two(square(size), kJ0Low, kJ0Middle), j_far(hankel(size, 0)));
}

Value j1(Value x) {
  const Value size = abs(x);
  const Value positive =
      where(size <= 8.0, size * in_two(square(size), kJ1Low, kJ1Middle), j_far(hankel(size, 1)));
  return where(x < 0.0, -positive, positive);
}

Value y_ends(Value x, Value value) {
  return where(x < 0.0, NAN, where(equal(x, 0.0), -INFINITY, value));
}

Value y0(Value x) {
  const Value near = in_two(square(x), kY0Low, kY0Middle) + log(x) * j0(x) * (2.0 / kPi);
  return y_ends(x, where(x <= 8.0, near, y_far(hankel(x, 0))));
}

Value y1(Value x) {
  const Value near =
      x * in_two(square(x), kY1Low, kY1Middle) + (log(x) * j1(x) - reciprocal(x)) * (2.0 / kPi);
  return y_ends(x, where(x <= 8.0, near, y_far(hankel(x, 1))));
}

Value airy_ai(Value x) {
  const Value size = abs(x);
  const Value zeta = size * sqrt(size) * (2.0 / 3.0);
  const Value root = sqrt(sqrt(size));
  const Value far = exp(-zeta) * polynomial_over(reciprocal(zeta), 0, 0.54, kAiryDecay) /
                    (root * (2.0 * std::sqrt(kPi)));
  const Value u = reciprocal(square(zeta));
  const Value angle = zeta + kPi / 4;
  const Value wave = (polynomial_over(u, 0, 0.019, kAiryP) * sin(angle) -
                      polynomial_over(u, 0, 0.019, kAiryQ) / zeta * cos(angle)) /
                     (root * std::sqrt(kPi));
  const Value positive = where(x <= 2.0, polynomial_over(x, 0, 2, kAiryLow), far);
  const Value near = where(x >= -2.5, polynomial_over(x, -2.5, 0, kAiryNegative),
                           polynomial_over(x, -5, -2.5, kAiryFarNegative));
  const Value negative = where(x >= -5.0, near, wave);
  const Value value = where(x >= 0.0, positive, negative);
  return where(is_inf(x), NAN, value);
}

Value spherical_j0(Value x) {
  const Value u = square(x);
  const Value series = 1.0 - u * (1.0 / 6.0) * (1.0 - u * (1.0 / 20.0) * (1.0 - u * (1.0 / 42.0)));
  const Value value = where(abs(x) < 0.1, series, sin(x) / x);
  return where(is_inf(x), 0.0, value);
}

}  // namespace

void register_special_bessel(ConverterRegistry& registry) {
  registry.add({"aten::i0", "aten::special_i0", "aten::special_modified_bessel_i0"}, special(i0));
  registry.add("aten::special_i0e", special(i0e));
  registry.add({"aten::special_i1", "aten::special_modified_bessel_i1"}, special(i1));
  registry.add("aten::special_i1e", special(i1e));
  registry.add("aten::special_modified_bessel_k0", special([](Value x) { return k0(x, false); }));
  registry.add("aten::special_modified_bessel_k1", special([](Value x) { return k1(x, false); }));
  registry.add("aten::special_scaled_modified_bessel_k0",
               special([](Value x) { return k0(x, true); }, "x"));
  registry.add("aten::special_scaled_modified_bessel_k1",
               special([](Value x) { return k1(x, true); }, "x"));
  registry.add("aten::special_bessel_j0", special(j0));
  registry.add("aten::special_bessel_j1", special(j1));
  registry.add("aten::special_bessel_y0", special(y0));
  registry.add("aten::special_bessel_y1", special(y1));
  registry.add("aten::special_airy_ai", special(airy_ai, "x"));
  registry.add("aten::special_spherical_bessel_j0", special(spherical_j0, "x"));
}

}  // namespace leapp::onnx_export
