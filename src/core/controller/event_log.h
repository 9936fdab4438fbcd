// Events, counted by kind, with the last entries in order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace leapp {

/// Allocates only in the constructor and in last().
template <typename Entry, std::size_t kKinds>
class EventLog {
 public:
  EventLog() : last_(kCapacity) {}

  void clear() noexcept {
    counts_.fill(0);
    total_ = 0;
  }
  void add(std::size_t kind, const Entry& entry) noexcept {
    ++counts_[kind];
    last_[total_ % kCapacity] = entry;
    ++total_;
  }

  const std::array<std::uint64_t, kKinds>& counts() const noexcept { return counts_; }
  std::uint64_t total() const noexcept { return total_; }
  /// Returns one of the last 256 events; `index` counts from the first event since clear().
  const Entry& at(std::uint64_t index) const noexcept { return last_[index % kCapacity]; }
  /// Returns the last events, oldest first.
  std::vector<Entry> last() const {
    std::vector<Entry> result;
    const std::uint64_t kept = std::min<std::uint64_t>(total_, kCapacity);
    for (std::uint64_t i = total_ - kept; i < total_; ++i) result.push_back(at(i));
    return result;
  }

 private:
  static constexpr std::size_t kCapacity = 256;
  std::array<std::uint64_t, kKinds> counts_{};
  std::uint64_t total_ = 0;
  std::vector<Entry> last_;
};

}  // namespace leapp
