#include "controller/intervention_log.h"

#include <algorithm>

namespace leapp {

std::string_view name_of(Cause cause) noexcept {
  switch (cause) {
    case Cause::kClamped:
      return "clamped";
    case Cause::kSlewed:
      return "slewed";
    case Cause::kBeyondLimits:
      return "beyond_limits";
    case Cause::kNotFinite:
      return "not_finite";
    case Cause::kStale:
      return "stale";
    case Cause::kLate:
      return "late";
    case Cause::kTickFailed:
      return "tick_failed";
  }
  return "";
}

void InterventionLog::clear() noexcept {
  counts_.fill(0);
  total_ = 0;
}

void InterventionLog::add(std::uint64_t tick, Cause cause, std::string_view port) noexcept {
  ++counts_[static_cast<std::size_t>(cause)];
  last_[total_ % kCapacity] = {tick, cause, port};
  ++total_;
}

std::vector<Intervention> InterventionLog::last() const {
  std::vector<Intervention> result;
  const std::uint64_t kept = std::min<std::uint64_t>(total_, kCapacity);
  for (std::uint64_t i = total_ - kept; i < total_; ++i) result.push_back(last_[i % kCapacity]);
  return result;
}

}  // namespace leapp
