// The last samples of an input, so kept that the window a policy reads lies in one piece.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "leapp/contract.h"

namespace leapp {

/// A ring of samples that is stored twice, half a length apart, so that the samples before the
/// newest one are always contiguous. push() and the accessors allocate nothing.
class HistoryRing {
 public:
  HistoryRing() = default;
  /// Creates a ring for `steps` samples of `count` elements, `stride` pushes apart.
  HistoryRing(const History& history, std::size_t steps, std::size_t count, std::size_t stride);

  /// Forgets all samples.
  void clear() noexcept { filled_ = false; }
  bool empty() const noexcept { return !filled_; }

  /// Adds a sample. The first one fills what was before it, unless the start is given.
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
  std::size_t slots_ = 0;   // samples that are kept
  std::size_t newest_ = 0;  // slot of the newest, in the second half
  bool newest_first_ = false;
  bool filled_ = false;
  std::optional<std::vector<double>> start_;
  std::vector<double> samples_;
};

}  // namespace leapp
