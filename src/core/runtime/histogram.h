// Latencies in fixed memory: logarithmic classes with 32 steps each, so any percentile is exact to
// 2 %. Recording takes a few instructions and never allocates.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "leapp/inference_manager.h"

namespace leapp {

class Histogram {
 public:
  void record(std::chrono::nanoseconds latency) noexcept {
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(latency.count(), 0));
    ++buckets_[bucket_of(value)];
    ++count_;
    sum_ += value;
    max_ = std::max(max_, value);
  }

  LatencySummary summary() const noexcept;

 private:
  static constexpr int kStepBits = 5;
  static constexpr std::size_t kSteps = std::size_t{1} << kStepBits;
  static constexpr std::size_t kClasses = 36;  // up to a minute
  static constexpr std::size_t kBuckets = kSteps * kClasses;

  // Values below kSteps have a bucket each; above, the leading bit selects a class and the next
  // five bits the step in it.
  static std::size_t bucket_of(std::uint64_t value) noexcept {
    if (value < kSteps) return static_cast<std::size_t>(value);
    const int shift = static_cast<int>(std::bit_width(value)) - 1 - kStepBits;
    const std::size_t step = static_cast<std::size_t>(value >> shift) - kSteps;
    return std::min((static_cast<std::size_t>(shift) + 1) * kSteps + step, kBuckets - 1);
  }
  static std::uint64_t middle_of(std::size_t bucket) noexcept;
  std::uint64_t percentile(double fraction) const noexcept;

  std::array<std::uint32_t, kBuckets> buckets_{};
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace leapp
