// Numbers of every type: conversions, limits, and integer arithmetic that wraps around like
// PyTorch's.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

using Index = std::ptrdiff_t;

template <typename T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <typename T>
constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
template <typename T>
constexpr bool kIsFloat = std::is_floating_point_v<T>;
template <typename T>
constexpr bool kIsInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// A floating-point number outside the range of an integer type becomes zero for narrow types and
// the lowest number for wide ones, as on x86 processors.
template <typename To, typename From>
constexpr To to(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (kIsInteger<To> && kIsFloat<From>) {
    using Wide = std::conditional_t<(sizeof(To) < 4), std::int32_t, std::int64_t>;
    const From limit = static_cast<From>(sizeof(Wide) == 4 ? 2147483648.0 : 9223372036854775808.0);
    const bool fits = value >= -limit && value < limit;
    if constexpr (sizeof(To) == 4) {
      const bool fits_narrow = value > From(-2147483649.0) && value < From(2147483648.0);
      if (!fits_narrow) return std::numeric_limits<To>::min();
    }
    return static_cast<To>(fits ? static_cast<Wide>(value) : std::numeric_limits<Wide>::min());
  } else {
    return static_cast<To>(value);
  }
}

// Integers wrap around in this type.
template <typename T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

template <typename T>
constexpr T add(T a, T b) {
  if constexpr (kIsFloat<T>)
    return a + b;
  else if constexpr (std::is_same_v<T, bool>)
    return a || b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}
template <typename T>
constexpr T subtract(T a, T b) {
  if constexpr (kIsFloat<T>)
    return a - b;
  else if constexpr (std::is_same_v<T, bool>)
    return a != b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
}
template <typename T>
constexpr T multiply(T a, T b) {
  if constexpr (kIsFloat<T>)
    return a * b;
  else if constexpr (std::is_same_v<T, bool>)
    return a && b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}
template <typename T>
constexpr T negative(T a) {
  if constexpr (kIsFloat<T>)
    return -a;
  else
    return subtract(T(0), a);
}

// Propagates NaN.
template <typename T>
constexpr T minimum(T a, T b) {
  if constexpr (kIsFloat<T>) {
    if (a != a) return a;
    if (b != b) return b;
  }
  return b < a ? b : a;
}
template <typename T>
constexpr T maximum(T a, T b) {
  if constexpr (kIsFloat<T>) {
    if (a != a) return a;
    if (b != b) return b;
  }
  return a < b ? b : a;
}

template <typename T>
constexpr bool equal(T a, T b) {
  return a == b;
}
template <typename T>
constexpr bool less(T a, T b) {
  return a < b;
}
template <typename T>
constexpr bool less_equal(T a, T b) {
  return a <= b;
}

// A run returns its first failure.
struct Status {
  std::int32_t value = 0;
  constexpr void fail(std::int32_t error) {
    if (value == 0) value = error;
  }
};

// Converts an index to a non-negative one. An index out of range makes the run fail.
template <typename T>
constexpr Index place(T index, Index size, Status& status, std::int32_t error) {
  const Index from_front = static_cast<Index>(index) + (index < T(0) ? size : 0);
  if (from_front >= 0 && from_front < size) return from_front;
  status.fail(error);
  return 0;
}
template <typename T>
constexpr Index place_from_front(T index, Index size, Status& status, std::int32_t error) {
  const Index from_front = static_cast<Index>(index);
  if (from_front >= 0 && from_front < size) return from_front;
  status.fail(error);
  return 0;
}
