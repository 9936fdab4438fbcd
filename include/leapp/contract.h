// The contract between a port and the robot: units, frames, limits, ages, fallbacks.
//
// A bundle carries its contract as keys of a port (`unit`, `limits`, ..) and of `pipeline.configs`
// (`frequency`, `default_pose`, ..); rules B25 to B29 of docs/reference/bundle.md define them.
// Other programs see them as extra metadata. If such a key has a value of another form, as in
// bundles that use the key for something else, it is ordinary metadata. In C++ a contract is a
// plain value:
//
//   leapp::Semantics semantics{.kind = "state/joint/position"};
//   leapp::add_contract(semantics, {.unit = "rad", .max_age_ms = 50});          // when tracing
//   const leapp::PortContract contract = leapp::contract_of(*bundle.find_input(port));  // later
//
// Numbers for the elements of a port are either one for all of them or one for each element of the
// last dimension, in the port's own order. No function keeps its arguments. All of them allocate;
// call them only for set-up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/semantics.h"
#include "leapp/visibility.h"

namespace leapp {

/// Position of the scalar in a quaternion. The quaternion is the last four elements of the last
/// dimension, so a pose with seven elements also has one.
enum class QuaternionOrder : std::uint8_t { kWxyz, kXyzw };

/// Treatment of a value beyond its limits.
enum class OnViolation : std::uint8_t {
  kClamp,  ///< use the nearest value within them
  kStop,   ///< the controller goes to its fallback and stays there
};

/// Limits of a port. An empty list means no limit.
struct Limits {
  std::vector<double> lower;
  std::vector<double> upper;
  std::vector<double> rate;  ///< largest change per second, positive
  OnViolation on_violation = OnViolation::kClamp;

  bool operator==(const Limits&) const = default;
};

/// Fallback: repeat the last output.
struct Hold {
  bool operator==(const Hold&) const = default;
};

/// Fallback: let the joints give way, with damping. Position targets follow the measured position;
/// velocity targets, effort targets and stiffness are zero; damping is unchanged.
struct Damp {
  bool operator==(const Damp&) const = default;
};

/// Values of an output if the policy cannot be trusted; a list contains the values themselves.
using Fallback = std::variant<Hold, Damp, std::vector<double>>;

/// Order of a time axis.
enum class HistoryOrder : std::uint8_t { kOldestFirst, kNewestFirst };

struct History {
  HistoryOrder order = HistoryOrder::kOldestFirst;
  /// Content of the time axis before the first value: these numbers, or the first value itself.
  std::optional<std::vector<double>> start = {};

  bool operator==(const History&) const = default;
};

struct PortContract {
  std::optional<std::string> unit = {};   ///< "rad", "deg/s", ..
  std::optional<std::string> frame = {};  ///< frame of the values: "base", "world"
  std::optional<QuaternionOrder> quaternion = {};
  std::optional<Limits> limits = {};
  std::optional<double> max_age_ms = {};       ///< inputs: maximum age of a value
  std::optional<Fallback> fallback = {};       ///< outputs
  std::optional<leapp::History> history = {};  ///< inputs with a time axis
  /// Keys with these names but a different meaning; only when read.
  std::vector<std::string> not_understood = {};

  bool operator==(const PortContract&) const = default;
};

/// The smallest and the largest value of a command.
struct CommandRange {
  std::string element;  ///< an element name of an input whose kind begins with "command/"
  double lower = 0;
  double upper = 0;

  bool operator==(const CommandRange&) const = default;
};

/// Contract of the whole bundle, from `pipeline.configs`.
struct GraphContract {
  std::optional<double> frequency = {};  ///< ticks a second
  std::vector<CommandRange> command_ranges = {};
  /// Joint positions of the policy's default pose: name, and radians or metres.
  std::vector<std::pair<std::string, double>> default_pose = {};
  /// Names of capabilities that the host must have in addition to running the bundle. When read, it
  /// includes the requirements of `isaaclab.controller_owned_writes`.
  std::vector<std::string> required_capabilities = {};
  /// Keys with these names but a different meaning; only when read.
  std::vector<std::string> not_understood = {};

  bool operator==(const GraphContract&) const = default;
};

/// Returns the contract in a port's extra keys. Throws Error, B25 to B28, for invalid values, about
/// which a reader has already warned.
LEAPP_EXPORT PortContract contract_of(const Port& port);

/// Returns the contract of the whole pipeline: B29.
LEAPP_EXPORT GraphContract contract_of(const Pipeline& pipeline);

/// Adds the keys of a contract to those of a port. Replaces existing keys.
LEAPP_EXPORT void add_contract(Semantics& semantics, const PortContract& contract);

/// Adds the keys of a contract to `pipeline.configs`, also through GraphConfigs::extra.
LEAPP_EXPORT void add_contract(Metadata::Map& configs, const GraphContract& contract);

}  // namespace leapp
