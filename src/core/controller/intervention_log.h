// What a controller did against the policy's will: counts, and the last few with tick and port.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "leapp/controller.h"

namespace leapp {

/// add() allocates nothing.
class InterventionLog {
 public:
  InterventionLog() : last_(kCapacity) {}

  void clear() noexcept;
  void add(std::uint64_t tick, Cause cause, std::string_view port) noexcept;

  const std::array<std::uint64_t, kCauses>& counts() const noexcept { return counts_; }
  std::uint64_t total() const noexcept { return total_; }
  std::vector<Intervention> last() const;
  /// One of the last 256, counted from the first since clear().
  const Intervention& at(std::uint64_t index) const noexcept { return last_[index % kCapacity]; }

 private:
  static constexpr std::size_t kCapacity = 256;
  std::array<std::uint64_t, kCauses> counts_{};
  std::uint64_t total_ = 0;
  std::vector<Intervention> last_;
};

}  // namespace leapp
