#include "view/distribution.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>

#include "base/element_type.h"

namespace leapp::view {
namespace {

template <typename T>
double number_at(const ConstTensorView& tensor, std::size_t index) {
  T element{};
  std::memcpy(&element, static_cast<const char*>(tensor.data) + index * sizeof(T), sizeof(T));
  if constexpr (std::is_same_v<T, Bool>) {
    return element.bits != 0 ? 1 : 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<double>(element);
  } else if constexpr (requires { element.real(); }) {
    return std::abs(std::complex<double>(element));
  } else {
    return static_cast<double>(to_number(element));
  }
}

// Calls `visit` with each element.
template <typename Visit>
void for_each_number(const ConstTensorView& tensor, Visit visit) {
  const auto count = static_cast<std::size_t>(element_count(tensor.shape));
  with_element_type(tensor.dtype, [&](auto type) {
    for (std::size_t i = 0; i < count; ++i) visit(number_at<decltype(type)>(tensor, i));
  });
}

}  // namespace

Distribution distribution_of(const ConstTensorView& tensor) {
  Distribution found;
  std::uint64_t finite = 0;
  double squares = 0;
  for_each_number(tensor, [&](double number) {
    ++found.count;
    if (std::isnan(number)) {
      ++found.nan;
    } else if (std::isinf(number)) {
      ++found.infinite;
    } else {
      found.min = finite == 0 ? number : std::min(found.min, number);
      found.max = finite == 0 ? number : std::max(found.max, number);
      ++finite;
      const double step =
          number -
          found.mean;  // Welford's algorithm, which keeps the precision of a small deviation
      found.mean += step / static_cast<double>(finite);
      squares += step * (number - found.mean);
      if (number == 0) ++found.zero;
    }
  });
  if (finite == 0) return found;
  found.deviation = std::sqrt(squares / static_cast<double>(finite));
  const double width = (found.max - found.min) / static_cast<double>(kBins);
  for_each_number(tensor, [&](double number) {
    if (!std::isfinite(number)) return;
    const double at = width > 0 && std::isfinite(width) ? (number - found.min) / width : 0;
    ++found.bins[std::min(static_cast<std::size_t>(at), kBins - 1)];
  });
  return found;
}

double element_of(const ConstTensorView& tensor, std::size_t index) {
  return with_element_type(tensor.dtype,
                           [&](auto type) { return number_at<decltype(type)>(tensor, index); });
}

}  // namespace leapp::view
