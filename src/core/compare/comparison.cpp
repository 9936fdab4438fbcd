#include "leapp/comparison.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "base/element_type.h"

namespace leapp {
namespace {

template <typename T>
constexpr bool kIsExact = std::is_integral_v<T> || std::is_same_v<T, Bool>;
template <typename T>
constexpr bool kIsComplex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// Returns the number for output and for ranges.
template <typename T>
double magnitude(T value) noexcept {
  if constexpr (std::is_same_v<T, Bool>) {
    return value.bits != 0 ? 1 : 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<double>(value);
  } else if constexpr (kIsComplex<T>) {
    return std::abs(to_number(value));
  } else {
    return static_cast<double>(to_number(value));
  }
}

/// Returns |a - b|; subtracts 64-bit integers before rounding.
template <typename T>
double distance(T a, T b) noexcept {
  if constexpr (std::is_same_v<T, Bool>) {
    return (a.bits != 0) != (b.bits != 0) ? 1 : 0;
  } else if constexpr (std::is_integral_v<T>) {
    using Wide = std::make_unsigned_t<T>;
    const Wide wide = a > b ? static_cast<Wide>(static_cast<Wide>(a) - static_cast<Wide>(b))
                            : static_cast<Wide>(static_cast<Wide>(b) - static_cast<Wide>(a));
    return static_cast<double>(wide);
  } else if constexpr (kIsComplex<T>) {
    return std::abs(to_number(a) - to_number(b));
  } else {
    return std::abs(magnitude(a) - magnitude(b));
  }
}

template <typename T>
bool is_nan(T value) noexcept {
  if constexpr (kIsExact<T>) {
    return false;
  } else if constexpr (kIsComplex<T>) {
    return std::isnan(value.real()) || std::isnan(value.imag());
  } else {
    return std::isnan(to_number(value));
  }
}

template <typename T>
bool is_finite(T value) noexcept {
  if constexpr (kIsExact<T>) {
    return true;
  } else if constexpr (kIsComplex<T>) {
    return std::isfinite(value.real()) && std::isfinite(value.imag());
  } else {
    return std::isfinite(to_number(value));
  }
}

/// Returns whether two values, of which at least one is not finite, are the same.
template <typename T>
bool same_non_finite(T a, T b) noexcept {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  if constexpr (kIsExact<T>) {
    return true;
  } else if constexpr (kIsComplex<T>) {
    return same(a.real(), b.real()) && same(a.imag(), b.imag());
  } else {
    return same(magnitude(a), magnitude(b));
  }
}

/// Returns the number of elements of a block that are finite and close. It has no branches and uses
/// the elements' own precision, so it runs in vector registers.
template <typename T>
std::int64_t count_close(const T* traced, const T* exported, std::int64_t count,
                         const Tolerance& tolerance) noexcept {
  if constexpr (kIsExact<T> || kIsComplex<T>) {
    std::int64_t close = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const double difference = distance(traced[i], exported[i]);
      const double limit = tolerance.atol + tolerance.rtol * std::abs(magnitude(traced[i]));
      close += static_cast<int>(difference <= limit) & static_cast<int>(std::isfinite(difference));
    }
    return close;
  } else {
    using Number = decltype(to_number(T{}));
    using Counter = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;
    const auto atol = static_cast<Number>(tolerance.atol);
    const auto rtol = static_cast<Number>(tolerance.rtol);
    Counter close = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const Number value = to_number(traced[i]);
      const Number difference = std::abs(value - to_number(exported[i]));
      const Number limit = atol + rtol * std::abs(value);
      close += static_cast<Counter>(difference <= limit) &
               static_cast<Counter>(difference < std::numeric_limits<Number>::infinity());
    }
    return static_cast<std::int64_t>(close);
  }
}

/// Returns whether the block is close. False may also mean NaN, infinity or overflow; a slower
/// check follows.
template <typename T>
bool all_close_and_finite(const T* traced, const T* exported, std::int64_t count,
                          const Tolerance& tolerance) noexcept {
  constexpr std::int64_t kBlock = 4096;
  for (std::int64_t start = 0; start < count; start += kBlock) {
    const std::int64_t block = std::min(kBlock, count - start);
    if (count_close(traced + start, exported + start, block, tolerance) != block) return false;
  }
  return true;
}

template <typename T>
SideSummary summarise(const ConstTensorView& view) {
  SideSummary side{view.dtype, view.shape, 0, 0, 0, 0, 0};
  const T* const values = static_cast<const T*>(view.data);
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (std::int64_t i = 0, n = element_count(view.shape); i < n; ++i) {
    if (is_finite(values[i])) {
      ++side.finite;
      low = std::min(low, magnitude(values[i]));
      high = std::max(high, magnitude(values[i]));
    } else if (is_nan(values[i])) {
      ++side.nan;
    } else {
      ++side.inf;
    }
  }
  if (side.finite > 0) side.min = low, side.max = high;
  return side;
}

/// Returns the value at a rank of a sample, interpolated between neighbours.
double percentile(std::vector<double>& sample, double rank) {
  const double place = rank * static_cast<double>(sample.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(place);
  const auto at = sample.begin() + below;
  std::nth_element(sample.begin(), at, sample.end());
  if (at + 1 == sample.end()) return *at;
  const double above = *std::min_element(at + 1, sample.end());
  return *at + (place - static_cast<double>(below)) * (above - *at);
}

Shape unravel(std::int64_t flat, const Shape& shape) {
  Shape index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = flat % shape[i];
    flat /= shape[i];
  }
  return index;
}

template <typename T>
void measure(const ConstTensorView& traced_view, const ConstTensorView& exported_view,
             Comparison& result) {
  const T* const traced = static_cast<const T*>(traced_view.data);
  const T* const exported = static_cast<const T*>(exported_view.data);
  const Tolerance& tolerance = result.tolerance;
  std::vector<double> differences;
  differences.reserve(static_cast<std::size_t>(result.elements));
  double sum = 0;
  double furthest = -1;
  std::int64_t worst = -1;
  bool places_differ = false;
  const auto note = [&](std::int64_t i, double difference) {
    ++result.mismatched;
    const ElementMismatch found{i, magnitude(traced[i]), magnitude(exported[i])};
    if (result.mismatched == 1) result.first = found;
    if (difference > furthest) result.worst = found;
    furthest = std::max(furthest, difference);
  };
  for (std::int64_t i = 0; i < result.elements; ++i) {
    if (!is_finite(traced[i]) || !is_finite(exported[i])) {
      if (!same_non_finite(traced[i], exported[i])) {
        places_differ = true;
        note(i, std::numeric_limits<double>::infinity());
      }
      continue;
    }
    const double difference = distance(traced[i], exported[i]);
    if (!(difference <= tolerance.atol + tolerance.rtol * std::abs(magnitude(traced[i])))) {
      note(i, difference);
    }
    differences.push_back(difference);
    sum += difference;
    if (worst < 0 || difference > result.difference.max) {
      worst = i;
      result.difference.max = difference;
    }
  }
  if (result.mismatched > 0) {
    result.verdict = places_differ ? Comparison::Verdict::kNonFinite : Comparison::Verdict::kValues;
  }
  if (differences.empty()) return;
  result.difference.compared = static_cast<std::int64_t>(differences.size());
  result.difference.mean = sum / static_cast<double>(differences.size());
  for (std::size_t i = 0; i < kPercentileRanks.size(); ++i) {
    result.difference.percentiles[i] = percentile(differences, kPercentileRanks[i]);
  }
  result.difference.worst_index = unravel(worst, traced_view.shape);
  result.difference.worst_traced = magnitude(traced[worst]);
  result.difference.worst_exported = magnitude(exported[worst]);
}

}  // namespace

Comparison compare(const ConstTensorView& traced, const ConstTensorView& exported,
                   const Tolerance& asked) {
  if (traced.shape == exported.shape && traced.dtype == exported.dtype) {
    Comparison result;
    result.tolerance = tolerance_for(traced.dtype, asked);
    result.elements = element_count(traced.shape);
    const bool close = with_element_type(traced.dtype, [&]<typename T>(T) {
      return all_close_and_finite(static_cast<const T*>(traced.data),
                                  static_cast<const T*>(exported.data), result.elements,
                                  result.tolerance);
    });
    if (close) return result;
  }
  return compare_in_full(traced, exported, asked);
}

Comparison compare_in_full(const ConstTensorView& traced, const ConstTensorView& exported,
                           const Tolerance& asked) {
  Comparison result;
  result.tolerance = tolerance_for(traced.dtype, asked);
  result.elements = element_count(traced.shape);
  with_element_type(traced.dtype, [&]<typename T>(T) { result.traced = summarise<T>(traced); });
  with_element_type(exported.dtype,
                    [&]<typename T>(T) { result.exported = summarise<T>(exported); });
  if (traced.shape != exported.shape) {
    result.verdict = Comparison::Verdict::kShape;
  } else if (traced.dtype != exported.dtype) {
    result.verdict = Comparison::Verdict::kDType;
  } else {
    with_element_type(traced.dtype, [&]<typename T>(T) { measure<T>(traced, exported, result); });
  }
  return result;
}

}  // namespace leapp
