// A schedule by indices: when a node runs, and what the schedule feeds it. B35 to B39.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bundle/port_index.h"
#include "bundle/rule_reporter.h"
#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

/// When one node runs. Ports are indices into its inputs and outputs.
struct Timing {
  struct Carry {
    std::size_t output = 0;
    std::size_t input = 0;
    bool operator==(const Carry&) const = default;
  };
  struct Age {
    std::size_t input = 0;
    std::size_t node = 0;
    bool operator==(const Age&) const = default;
  };
  struct Condition {
    bool is_output = true;
    PortIndex port;
    bool operator==(const Condition&) const = default;
  };

  std::int64_t every = 1;
  std::int64_t phase = 0;
  std::int64_t repeat = 1;
  std::vector<Carry> carry = {};
  std::optional<std::size_t> index = {};  ///< an input
  std::optional<Condition> when = {};
  std::vector<std::size_t> on_change = {};  ///< inputs
  std::vector<Age> ages = {};

  /// Returns whether `every` and `phase` let the node run in that tick.
  bool is_due(std::uint64_t tick) const noexcept {
    const auto first = static_cast<std::uint64_t>(phase);
    return tick >= first && (tick - first) % static_cast<std::uint64_t>(every) == 0;
  }
  /// Returns whether the values of a tick decide if the node runs.
  bool is_conditional() const noexcept { return when.has_value() || !on_change.empty(); }
  /// Returns whether the node runs once in every tick on nothing but its wires.
  bool is_plain() const noexcept { return *this == Timing{}; }
  /// Returns whether two such nodes always run together, once each: they may share an engine.
  bool is_merely_periodic() const noexcept {
    return *this == Timing{.every = every, .phase = phase};
  }

  bool operator==(const Timing&) const = default;
};

/// The largest `every`, `phase` and `repeat`. A repeat is bounded so that a tick ends.
inline constexpr std::int64_t kMaxPeriod = 1'000'000'000;
inline constexpr std::int64_t kMaxRepeat = 100'000;

/// The age that a node's reader sees before the node has run.
inline constexpr std::int64_t kNeverRan = -1;

/// Returns when each model of the bundle runs, in its order. Throws Error for what the schedule
/// itself shows to be wrong: B35 to B39. Wires are not looked at.
LEAPP_EXPORT std::vector<Timing> resolve_schedule(const Bundle& bundle,
                                                  const RuleReporter& reporter);

}  // namespace leapp
