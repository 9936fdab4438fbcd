// The last samples of an input, stored so that the window that a policy reads is contiguous.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "leapp/contract.h"

namespace leapp {

/// A ring buffer that stores each sample twice, half a length apart, so the samples before the
/// newest one are always contiguous. push() and the accessors do not allocate.
class HistoryRing {
 public:
  HistoryRing() = default;
  /// Creates a ring for `steps` samples of `count` elements, `stride` pushes apart.
  HistoryRing(const History& history, std::size_t steps, std::size_t count, std::size_t stride);

  /// Removes all samples.
  void clear() noexcept { filled_ = false; }
  bool empty() const noexcept { return !filled_; }

  /// Adds a sample. The first one also fills all earlier steps, unless the start is given.
  void push(std::span<const double> sample) noexcept;

  /// Adds the newest sample again. Not while empty().
  void repeat() noexcept;

  /// Returns the sample of that time step, in the declared order. Not while empty().
  std::span<const double> step(std::size_t index) const noexcept;

 private:
  void write(std::size_t slot, std::span<const double> sample) noexcept;

  std::size_t steps_ = 0;
  std::size_t count_ = 0;
  std::size_t stride_ = 1;
  std::size_t slots_ = 0;   // number of stored samples
  std::size_t newest_ = 0;  // slot of the newest sample, in the second half
  bool newest_first_ = false;
  bool filled_ = false;
  std::optional<std::vector<double>> start_;
  std::vector<double> samples_;
};

}  // namespace leapp
