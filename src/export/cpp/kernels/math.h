// Functions of numbers, by PyTorch's definitions.
#include "exponential.h"
#include "numbers.h"

template <typename T>
inline T abs(T x) {
  if constexpr (kIsFloat<T>)
    return std::fabs(x);
  else if constexpr (std::is_unsigned_v<T>)
    return x;
  else
    return x < T(0) ? negative(x) : x;
}
template <typename T>
inline T exp2(T x) {
  return std::exp2(x);
}
template <typename T>
inline T log(T x) {
  return std::log(x);
}
template <typename T>
inline T log2(T x) {
  return std::log2(x);
}
template <typename T>
inline T log10(T x) {
  return std::log10(x);
}
template <typename T>
inline T log1p(T x) {
  return std::log1p(x);
}
template <typename T>
inline T sqrt(T x) {
  return std::sqrt(x);
}
template <typename T>
inline T rsqrt(T x) {
  return T(1) / std::sqrt(x);
}
template <typename T>
inline T sin(T x) {
  return std::sin(x);
}
template <typename T>
inline T cos(T x) {
  return std::cos(x);
}
template <typename T>
inline T tan(T x) {
  return std::tan(x);
}
template <typename T>
inline T asin(T x) {
  return std::asin(x);
}
template <typename T>
inline T acos(T x) {
  return std::acos(x);
}
template <typename T>
inline T atan(T x) {
  return std::atan(x);
}
template <typename T>
inline T sinh(T x) {
  return std::sinh(x);
}
template <typename T>
inline T cosh(T x) {
  return std::cosh(x);
}
template <typename T>
inline T asinh(T x) {
  return std::asinh(x);
}
template <typename T>
inline T acosh(T x) {
  return std::acosh(x);
}
template <typename T>
inline T atanh(T x) {
  return std::atanh(x);
}
template <typename T>
inline T atan2(T y, T x) {
  return std::atan2(y, x);
}
template <typename T>
inline T hypot(T a, T b) {
  return std::hypot(a, b);
}
template <typename T>
inline T copysign(T size, T sign) {
  return std::copysign(size, sign);
}
template <typename T>
inline T nextafter(T from, T to_where) {
  return std::nextafter(from, to_where);
}
template <typename T>
inline T erfc(T x) {
  return std::erfc(x);
}
template <typename T>
inline T lgamma(T x) {
  return std::lgamma(x);
}

template <typename T>
inline T floor(T x) {
  if constexpr (kIsFloat<T>)
    return std::floor(x);
  else
    return x;
}
template <typename T>
inline T ceil(T x) {
  if constexpr (kIsFloat<T>)
    return std::ceil(x);
  else
    return x;
}
template <typename T>
inline T trunc(T x) {
  if constexpr (kIsFloat<T>)
    return std::trunc(x);
  else
    return x;
}
// Rounds half to even.
template <typename T>
inline T round(T x) {
  if constexpr (kIsFloat<T>)
    return std::nearbyint(x);
  else
    return x;
}
template <typename T>
inline T round_decimals(T x, T power, bool left_of_point) {
  if constexpr (kIsFloat<T>) {
    return left_of_point ? std::nearbyint(x / power) * power : std::nearbyint(x * power) / power;
  } else {
    return x;
  }
}
template <typename T>
inline T sign(T x) {
  if constexpr (std::is_same_v<T, bool>)
    return x;
  else
    return static_cast<T>((T(0) < x) - (x < T(0)));
}
template <typename T>
inline T fmod(T a, T b) {
  return std::fmod(a, b);
}
template <typename T>
inline T remainder(T a, T b) {
  const T rest = std::fmod(a, b);
  return rest != T(0) && (b < T(0)) != (rest < T(0)) ? rest + b : rest;
}
template <typename T>
inline T floor_divide(T a, T b) {
  if (b == T(0)) return a / b;
  const T rest = std::fmod(a, b);
  T quotient = (a - rest) / b;
  if (rest != T(0) && (b < T(0)) != (rest < T(0))) quotient -= T(1);
  if (quotient == T(0)) return std::copysign(T(0), a / b);
  const T down = std::floor(quotient);
  return quotient - down > T(0.5) ? down + T(1) : down;
}

// Integer division by zero makes the run fail.
template <typename T>
inline T integer_divide(T a, T b, Status& status, std::int32_t error) {
  if (b == T(0)) {
    status.fail(error);
    return T(0);
  }
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return negative(a);
  }
  return static_cast<T>(a / b);
}
template <typename T>
inline T integer_fmod(T a, T b, Status& status, std::int32_t error) {
  return subtract(a, multiply(integer_divide(a, b, status, error), b));
}
template <typename T>
inline T integer_remainder(T a, T b, Status& status, std::int32_t error) {
  const T rest = integer_fmod(a, b, status, error);
  return rest != T(0) && (rest < T(0)) != (b < T(0)) ? add(rest, b) : rest;
}
template <typename T>
inline T integer_floor_divide(T a, T b, Status& status, std::int32_t error) {
  const T quotient = integer_divide(a, b, status, error);
  const T rest = subtract(a, multiply(quotient, b));
  return rest != T(0) && (rest < T(0)) != (b < T(0)) ? subtract(quotient, T(1)) : quotient;
}

template <typename T>
inline T power(T base, T exponent) {
  if constexpr (kIsFloat<T>) {
    return std::pow(base, exponent);
  } else if constexpr (std::is_same_v<T, bool>) {
    return base || !exponent;
  } else {
    if (exponent < T(0)) {
      if (base == T(1)) return T(1);
      if (static_cast<std::int64_t>(base) == -1) return exponent % T(2) == T(0) ? T(1) : base;
      return T(0);
    }
    T result = T(1);
    for (; exponent > T(0); exponent = static_cast<T>(exponent / T(2))) {
      if (exponent % T(2) != T(0)) result = multiply(result, base);
      base = multiply(base, base);
    }
    return result;
  }
}

// Returns the operand that is not NaN.
template <typename T>
inline T fmaximum(T a, T b) {
  if constexpr (kIsFloat<T>)
    return std::fmax(a, b);
  else
    return maximum(a, b);
}
template <typename T>
inline T fminimum(T a, T b) {
  if constexpr (kIsFloat<T>)
    return std::fmin(a, b);
  else
    return minimum(a, b);
}
template <typename T>
inline bool is_nan(T x) {
  return x != x;
}
template <typename T>
inline bool is_infinite(T x) {
  if constexpr (kIsFloat<T>)
    return std::isinf(x);
  else
    return false;
}
template <typename T>
inline bool is_finite(T x) {
  if constexpr (kIsFloat<T>)
    return std::isfinite(x);
  else
    return true;
}
template <typename T>
inline bool has_sign(T x) {
  if constexpr (kIsFloat<T>)
    return std::signbit(x);
  else
    return x < T(0);
}
template <typename T>
inline T nan_to_num(T x, T nan, T high, T low) {
  if constexpr (kIsFloat<T>) {
    if (std::isnan(x)) return nan;
    if (x == kInfinity<T>) return high;
    if (x == -kInfinity<T>) return low;
  }
  return x;
}
template <typename T>
inline T lerp(T start, T end, T weight) {
  const T difference = end - start;
  return abs(weight) < T(0.5) ? start + weight * difference : end - difference * (T(1) - weight);
}
template <typename T>
inline T logaddexp(T a, T b) {
  if (std::isinf(a) && a == b) return a;
  const T high = maximum(a, b);
  return high + std::log1p(std::exp(-abs(a - b)));
}
template <typename T>
inline T logaddexp2(T a, T b) {
  if (std::isinf(a) && a == b) return a;
  const T high = maximum(a, b);
  return high + std::log1p(std::exp2(-abs(a - b))) * T(1.44269504088896340736);
}
template <typename T>
inline T xlogy(T x, T y) {
  if (y != y) return y;
  return x == T(0) ? T(0) : x * std::log(y);
}
template <typename T>
inline T xlog1py(T x, T y) {
  if (y != y) return y;
  return x == T(0) ? T(0) : x * std::log1p(y);
}
template <typename T>
inline T entropy(T x) {
  if (x != x) return x;
  if (x > T(0)) return -x * std::log(x);
  return x == T(0) ? T(0) : -kInfinity<T>;
}
template <typename T>
inline T heaviside(T x, T at_zero) {
  if constexpr (std::is_same_v<T, bool>)
    return x || at_zero;
  else
    return x == T(0) ? at_zero : (x > T(0) ? T(1) : T(0));
}
template <typename T>
inline T sinc(T x) {
  const T angle = x * T(3.14159265358979323846);
  return x == T(0) ? T(1) : std::sin(angle) / angle;
}
template <typename T>
inline T gcd(T a, T b) {
  a = abs(a);
  b = abs(b);
  while (b != T(0)) {
    const T rest = static_cast<T>(a % b);
    a = b;
    b = rest;
  }
  return a;
}
template <typename T>
inline T lcm(T a, T b) {
  const T common = gcd(a, b);
  return common == T(0) ? T(0) : abs(multiply(static_cast<T>(a / common), b));
}
template <typename T>
inline T shift_left(T a, T b) {
  const bool inside = b >= T(0) && static_cast<std::uint64_t>(b) < 8 * sizeof(T);
  return inside ? static_cast<T>(static_cast<Wrapping<T>>(a) << b) : T(0);
}
template <typename T>
inline T shift_right(T a, T b) {
  const bool inside = b >= T(0) && static_cast<std::uint64_t>(b) < 8 * sizeof(T);
  return static_cast<T>(a >> (inside ? static_cast<int>(b) : static_cast<int>(8 * sizeof(T) - 1)));
}
template <typename T>
inline T bit_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <typename T>
inline T bit_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <typename T>
inline T bit_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <typename T>
inline T bit_not(T a) {
  if constexpr (std::is_same_v<T, bool>)
    return !a;
  else
    return static_cast<T>(~a);
}
template <typename T>
inline bool is_close(T a, T b, T rtol, T atol, bool equal_nan) {
  if (equal_nan && a != a && b != b) return true;
  if (a == b) return true;
  const T difference = std::fabs(a - b);
  return std::isfinite(difference) && difference <= atol + std::fabs(rtol * b);
}
