// Description of several policies on one robot, and of when to switch between them.
//
//   policies:                                       # the first one is active after start()
//     stand: {bundle: stand/stand.yaml}             # paths are relative to this file
//     walk: {bundle: walker/walker.yaml, blend_in: 0.3}
//     get_up: {bundle: get_up/get_up.yaml, interpolation: linear}
//   switches:                                       # the first one that applies is used
//     - {from: stand, to: walk, when: {sensor: command, element: lin_vel_x, above: 0.1}}
//     - {from: walk, to: stand, when: {port: policy/has_arrived}}
//     - {to: get_up, when: {sensor: gravity, element: z, above: -0.3}}
//     - {to: emergency_stop, when: {flag: button}}
//   fallback: {joint_target: damp}                  # values of a stop for each actuator
//   blend_in: 0.5                                   # duration of a switch in seconds
//
// A condition names a `flag` that the program sets, a `sensor` of the robot, or a `port`: an output
// of the policy in `from`. The value of a bool port is the condition. Numbers meet the condition if
// they are greater than `above` or smaller than `below`. Without `element`, one element that does
// so is enough. A switch without `from` applies to every other policy.
//
// docs/reference/supervisor.md defines all of this in numbered rules. The structs are plain values
// that own their members. Reading allocates and throws Error (LP656), with a message that begins
// "file:line:column:". An unknown key is an error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/contract.h"
#include "leapp/robot.h"
#include "leapp/visibility.h"

namespace leapp {

/// One bundle of several that share a robot.
struct SupervisedPolicy {
  std::string name;
  std::filesystem::path bundle;          ///< the .yaml file
  std::optional<double> frequency = {};  ///< rate in Hz; replaces the bundle's
  std::optional<bool> linear = {};       ///< true to interpolate targets
  std::optional<double> blend_in = {};   ///< seconds, instead of Supervision::blend_in

  bool operator==(const SupervisedPolicy&) const = default;
};

struct SwitchCondition {
  enum class Source : std::uint8_t { kFlag, kSensor, kPort };

  Source source = Source::kFlag;
  std::string name;                  ///< name of the flag, the sensor, or the port "node/port"
  std::string element = {};          ///< empty: one element is enough
  std::optional<double> above = {};  ///< met by greater values
  std::optional<double> below = {};  ///< met by smaller values

  bool operator==(const SwitchCondition&) const = default;
};

/// Target of a switch that is an emergency stop. No policy may have this name.
inline constexpr std::string_view kEmergencyStopName = "emergency_stop";

struct SwitchRule {
  std::string from = {};  ///< a policy; empty: any except `to`
  std::string to;         ///< a policy, or kEmergencyStopName
  SwitchCondition when;

  bool operator==(const SwitchRule&) const = default;
};

struct Supervision {
  std::vector<SupervisedPolicy> policies;  ///< the first one is active after start()
  std::vector<SwitchRule> switches = {};
  /// For each actuator, in its own order and unit: the values that a stopped policy sends.
  std::vector<std::pair<std::string, Fallback>> fallback = {};
  double blend_in = 0;  ///< duration of a switch in seconds

  bool operator==(const Supervision&) const = default;
};

/// Reads and checks a description. Paths of bundles are relative to its directory. Throws Error:
/// LP656, or kNotFound.
LEAPP_EXPORT Supervision read_supervision(const std::filesystem::path& yaml);

/// Reads a description from text in memory. `name` stands for the file in messages; paths of
/// bundles are unchanged.
LEAPP_EXPORT Supervision parse_supervision(std::string_view yaml, const std::string& name);

/// Returns whether a YAML file describes a supervisor rather than a bundle. Throws Error
/// (kNotFound, kWrongValue) for a file that is not YAML.
LEAPP_EXPORT bool is_supervision(const std::filesystem::path& yaml);

/// Throws Error (LP656) for an invalid description: no policy, a duplicate or unknown name, a
/// condition without a threshold, a negative time.
LEAPP_EXPORT void check(const Supervision& supervision);

/// Throws Error (LP652, LP653, LP656) if the description does not match the robot or the bundles,
/// which are in the order of the policies. Loads no model.
LEAPP_EXPORT void check(const Supervision& supervision, const Robot& robot,
                        std::span<const Bundle> bundles);

}  // namespace leapp
