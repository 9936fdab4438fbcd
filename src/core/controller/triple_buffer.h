// Passes the newest values from one thread to another.
#pragma once

#include <algorithm>
#include <atomic>
#include <span>
#include <vector>

namespace leapp {

/// The writer fills its own buffer and swaps it with the middle one; the reader takes the middle
/// one if it is new. Neither waits.
class TripleBuffer {
 public:
  explicit TripleBuffer(std::size_t count) : buffers_(3, std::vector<double>(count)) {}

  std::size_t size() const noexcept { return buffers_[0].size(); }

  void write(std::span<const double> values) noexcept {
    std::copy(values.begin(), values.end(), buffers_[written_].begin());
    written_ = middle_.exchange(written_ | kNew, std::memory_order_acq_rel) & ~kNew;
  }
  /// Returns the newest values; empty if nothing was written since the last call.
  std::span<const double> read() noexcept {
    if ((middle_.load(std::memory_order_relaxed) & kNew) == 0) return {};
    read_ = middle_.exchange(read_, std::memory_order_acq_rel) & ~kNew;
    return buffers_[read_];
  }

 private:
  static constexpr unsigned kNew = 4;
  std::vector<std::vector<double>> buffers_;
  unsigned written_ = 0;
  std::atomic<unsigned> middle_{1};
  unsigned read_ = 2;
};

}  // namespace leapp
