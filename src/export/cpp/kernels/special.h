// Functions that the C++ standard library does not have.
#include "math.h"

// Starts with Winitzki's approximation, and refines it by steps of Halley's method on erf.
template <typename T>
inline T erfinv(T y) {
  if (!(y > T(-1) && y < T(1))) {
    if (y == T(1)) return kInfinity<T>;
    return y == T(-1) ? -kInfinity<T> : kNan<T>;
  }
  const double target = static_cast<double>(y);
  const double shape = 0.147;
  const double logarithm = std::log((1 - target) * (1 + target));
  const double middle = 2 / (3.14159265358979323846 * shape) + logarithm / 2;
  double x = std::sqrt(std::sqrt(middle * middle - logarithm / shape) - middle);
  if (target < 0) x = -x;
  for (int step = 0; step < 3; ++step) {
    const double slope = 1.12837916709551257390 * std::exp(-x * x);
    const double error = (std::erf(x) - target) / slope;
    x -= error / (1 + x * error);
  }
  return static_cast<T>(x);
}

// Uses its recurrence up to the range of its series, and its reflection below zero.
template <typename T>
inline T digamma(T given) {
  double x = static_cast<double>(given);
  if (x == 0) return std::copysign(kInfinity<T>, -given);
  double result = 0;
  if (x < 0) {
    if (x == std::floor(x)) return kNan<T>;
    const double pi = 3.14159265358979323846;
    const double rest = std::fmod(x, 1.0);
    result = -pi / std::tan(pi * rest);
    x = 1 - x;
  }
  while (x < 10) {
    result -= 1 / x;
    x += 1;
  }
  const double inverse = 1 / (x * x);
  const double series =
      inverse *
      (1.0 / 12 -
       inverse * (1.0 / 120 - inverse * (1.0 / 252 - inverse * (1.0 / 240 - inverse / 132))));
  return static_cast<T>(result + std::log(x) - 0.5 / x - series);
}

// Cumulative distribution function of the standard normal distribution.
template <typename T>
inline T normal_below(T x) {
  return T(0.5) * std::erfc(-x * T(0.70710678118654752440));
}

template <typename T>
inline T log_normal_below(T given) {
  const double x = static_cast<double>(given);
  if (x > -30) return static_cast<T>(std::log(0.5 * std::erfc(-x * 0.70710678118654752440)));
  // For large negative numbers erfc underflows, so its asymptotic series is used.
  const double inverse = 1 / (x * x);
  return static_cast<T>(-0.5 * x * x - std::log(-x * 2.50662827463100050242) +
                        std::log1p(-inverse * (1 - 3 * inverse)));
}
