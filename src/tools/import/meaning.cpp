#include "import/meaning.h"

#include <array>
#include <optional>
#include <string_view>

namespace leapp::importing {
namespace {

const std::vector<std::string> kAxes = {"x", "y", "z"};
const std::vector<std::string> kTwist = {"lin_vel_x", "lin_vel_y", "ang_vel_z"};

/// Terms that a controller supplies, with the names of all projects.
struct GivenTerm {
  std::string_view name;
  std::int64_t size;
  const char* kind;
  const char* unit;
  const char* frame;
};
constexpr std::array kGivenTerms = {
    GivenTerm{"base_lin_vel", 3, "state/body/linear_velocity", "m/s", "base"},
    GivenTerm{"lin_vel", 3, "state/body/linear_velocity", "m/s", "base"},
    GivenTerm{"base_ang_vel", 3, "state/body/angular_velocity", "rad/s", "base"},
    GivenTerm{"ang_vel", 3, "state/body/angular_velocity", "rad/s", "base"},
    GivenTerm{"ang_vel_body", 3, "state/body/angular_velocity", "rad/s", "base"},
    GivenTerm{"projected_gravity", 3, "state/vector3d", "", "base"},
    GivenTerm{"gravity_vec", 3, "state/vector3d", "", "base"},
    GivenTerm{"velocity_commands", 3, "command/body/velocity", "", "base"},
    GivenTerm{"commands", 3, "command/body/velocity", "", "base"},
    GivenTerm{"command_lin_vel", 2, "command/body/velocity", "m/s", "base"},
    GivenTerm{"command_ang_vel", 1, "command/body/velocity", "rad/s", "base"},
    GivenTerm{"sin_phase", 2, "", "", ""},
    GivenTerm{"cos_phase", 2, "", "", ""},
    GivenTerm{"phase", 6, "", "", ""},
    GivenTerm{"g1_mimic_phase", 1, "", "", ""},
};

struct NamedSource {
  std::string_view name;
  Source source;
};
constexpr std::array kSources = {
    NamedSource{"joint_pos", Source::kJointPosition},
    NamedSource{"joint_pos_rel", Source::kJointPosition},
    NamedSource{"dof_pos", Source::kJointPosition},
    NamedSource{"joint_vel", Source::kJointVelocity},
    NamedSource{"joint_vel_rel", Source::kJointVelocity},
    NamedSource{"dof_vel", Source::kJointVelocity},
    NamedSource{"actions", Source::kLastAction},
    NamedSource{"last_action", Source::kLastAction},
    NamedSource{"motion_anchor_pos_b", Source::kAnchorPosition},
    NamedSource{"motion_anchor_ori_b", Source::kAnchorRotation},
};

std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace

Port plain_port(const std::string& name, const Shape& shape) {
  Port port;
  port.name = name;
  port.shape = shape;
  return port;
}

Port vector_port(const std::string& name, const std::string& kind,
                 const std::vector<std::string>& names, const std::string& unit,
                 const std::string& frame) {
  Port port = plain_port(name, {1, static_cast<std::int64_t>(names.size())});
  if (!kind.empty()) port.semantics.kind = kind;
  port.semantics.element_names = ElementNames{names};
  add_contract(port.semantics, {.unit = unless_empty(unit), .frame = unless_empty(frame)});
  return port;
}

Port quaternion_port(const std::string& name, const std::string& frame) {
  Port port = vector_port(name, "state/body/rotation", {"qw", "qx", "qy", "qz"}, "", frame);
  add_contract(port.semantics, {.quaternion = QuaternionOrder::kWxyz});
  return port;
}

KnownTerm find_term(const std::string& name, std::int64_t joints, std::int64_t actions) {
  for (const GivenTerm& term : kGivenTerms) {
    if (term.name == name) return {Source::kGiven, term.size};
  }
  for (const NamedSource& known : kSources) {
    if (known.name != name) continue;
    switch (known.source) {
      case Source::kJointPosition:
      case Source::kJointVelocity:
        return {known.source, joints};
      case Source::kLastAction:
        return {known.source, actions};
      case Source::kAnchorPosition:
        return {known.source, 3};
      case Source::kAnchorRotation:
        return {known.source, 6};
      default:
        break;
    }
  }
  return {};
}

Port given_port(const Term& term) {
  for (const GivenTerm& known : kGivenTerms) {
    if (known.name != term.name || known.size != term.size) continue;
    if (known.frame[0] == '\0') break;
    const bool command = std::string_view(known.kind) == "command/body/velocity";
    const std::vector<std::string>& names = command ? kTwist : kAxes;
    // A part of a planar velocity: the first two elements, or the last one.
    const auto first = names.begin() + (term.size == 1 ? 2 : 0);
    return vector_port(term.name, known.kind, {first, first + term.size}, known.unit, known.frame);
  }
  // All trainers of walking robots use a command of three numbers as a planar velocity.
  if (term.name == "command" && term.size == 3) {
    return vector_port(term.name, "command/body/velocity", kTwist, "", "base");
  }
  return plain_port(term.name, {1, term.size});
}

}  // namespace leapp::importing
