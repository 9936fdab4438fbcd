#include "runtime/histogram.h"

#include <cmath>

namespace leapp {

std::uint64_t Histogram::middle_of(std::size_t bucket) noexcept {
  if (bucket < kSteps) return bucket;
  const std::size_t shift = bucket / kSteps - 1;
  const std::uint64_t low = static_cast<std::uint64_t>(kSteps + bucket % kSteps) << shift;
  return low + ((std::uint64_t{1} << shift) >> 1);
}

std::uint64_t Histogram::percentile(double fraction) const noexcept {
  const auto rank = static_cast<std::uint64_t>(std::ceil(fraction * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += buckets_[i];
    if (seen >= std::max<std::uint64_t>(rank, 1)) return std::min(middle_of(i), max_);
  }
  return max_;
}

LatencySummary Histogram::summary() const noexcept {
  if (count_ == 0) return {};
  const auto time = [](std::uint64_t value) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(value));
  };
  return {.count = count_,
          .mean = time(sum_ / count_),
          .p50 = time(percentile(0.5)),
          .p99 = time(percentile(0.99)),
          .p999 = time(percentile(0.999)),
          .max = time(max_)};
}

}  // namespace leapp
