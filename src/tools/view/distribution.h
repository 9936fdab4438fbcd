// The distribution of a tensor's elements, for a histogram and a line of text.
#pragma once

#include <array>
#include <cstdint>

#include "leapp/tensor_view.h"

namespace leapp::view {

inline constexpr std::size_t kBins = 40;

/// Distribution of finite elements; complex ones count by their magnitude. All zero if there are
/// none.
struct Distribution {
  std::uint64_t count = 0;  ///< of all elements
  std::uint64_t nan = 0;
  std::uint64_t infinite = 0;
  std::uint64_t zero = 0;
  double min = 0;
  double max = 0;
  double mean = 0;
  double deviation = 0;
  std::array<std::uint64_t, kBins> bins = {};  ///< bins of equal width from min to max
};

/// Computes the distribution. The elements need not be aligned.
Distribution distribution_of(const ConstTensorView& tensor);

/// Returns element `index` as a number; complex ones by their magnitude.
double element_of(const ConstTensorView& tensor, std::size_t index);

}  // namespace leapp::view
