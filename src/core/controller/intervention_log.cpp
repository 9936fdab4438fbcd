#include "controller/intervention_log.h"

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

}  // namespace leapp
