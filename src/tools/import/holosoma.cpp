#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/check.h"
#include "bundle/json_tree.h"
#include "import/formats.h"
#include "import/meaning.h"
#include "import/terms.h"

namespace leapp::importing {
namespace {

/// holosoma's controller clips every action to this limit before it uses it.
constexpr double kHolosomaClip = 100;

// {"lin_vel_x": [-1.0, 1.0], ..} or null.
std::vector<CommandRange> holosoma_ranges(const Fields& fields) {
  const std::string* text = fields.find("command_ranges");
  if (text == nullptr) return {};
  const nlohmann::ordered_json json = parse_json(*text);
  if (json.is_discarded() || !(json.is_object() || json.is_null())) {
    fields.fail(Code::kBadKey, "command_ranges", "is not a JSON object");
  }
  std::vector<CommandRange> ranges;
  for (const auto& [key, value] : json.items()) {
    const bool is_range = value.is_array() && value.size() == 2 && value[0].is_number() &&
                          value[1].is_number() && value[0].get<double>() <= value[1].get<double>();
    if (!is_range) {
      fields.fail(Code::kBadKey, "command_ranges",
                  "has no range for '" + key + "', expected [lower, upper]");
    }
    // holosoma's own name for the yaw rate.
    const std::string element = key == "ang_vel_yaw" ? "ang_vel_z" : key;
    ranges.push_back({element, value[0].get<double>(), value[1].get<double>()});
  }
  return ranges;
}

class HolosomaReader {
 public:
  HolosomaReader(const Fields& fields, const PolicyModel& policy)
      : fields_(fields), policy_(policy), action_(action_of(policy)) {}

  Deployment read() {
    require(policy_.find_input("time_step") == nullptr, Code::kPolicyMismatch,
            fields_.file() +
                ": this is a tracking policy of holosoma (it has an input 'time_step'). Its "
                "observation depends on a reference that the file does not describe. Export this "
                "policy with LEAPP instead");
    require(!fields_.has("action_contract"), Code::kPolicyMismatch,
            fields_.file() +
                ": the key 'action_contract' gives the action a different meaning than holosoma's "
                "own controller uses. Such a policy cannot be imported");
    deployment_.format = "holosoma";
    deployment_.fill = Fill::kZeros;
    deployment_.joints = fields_.texts("dof_names", "the joints, in the policy's order");
    check_unique(fields_, "dof_names", deployment_.joints);
    const std::string* pose = fields_.find("default_dof_pos");
    deployment_.default_position =
        per_joint(pose != nullptr && *pose != "null" ? "default_dof_pos" : "default_joint_pos",
                  "the default position of each joint, which holosoma keeps in its robot config "
                  "(default_dof_angles)");
    deployment_.stiffness = per_joint("kp", "the stiffness of each joint");
    deployment_.damping = per_joint("kd", "the damping of each joint");
    read_holosoma_drives();
    read_sorted_terms();
    deployment_.frequency = fields_.positive("frequency");
    deployment_.command_ranges = holosoma_ranges(fields_);
    settle_terms(deployment_, fields_, observation_of(policy_));
    say_holosoma_notes();
    return std::move(deployment_);
  }

 private:
  std::vector<double> per_joint(const char* key, const char* what) const {
    std::vector<double> values = fields_.numbers(key, what);
    fields_.check_count(key, values.size(), deployment_.joints.size(), "one for each of dof_names");
    return values;
  }

  void read_holosoma_drives() {
    const auto count = static_cast<std::size_t>(size_of_port(action_));
    require(count <= deployment_.joints.size(), Code::kPolicyMismatch,
            fields_.file() + ": the action has " + std::to_string(count) +
                " elements, but dof_names has only " + std::to_string(deployment_.joints.size()));
    std::vector<double> scale =
        fields_.numbers("action_scale", "the scale of the action: one, or one for each element");
    if (scale.size() == 1) scale.assign(count, scale[0]);
    fields_.check_count("action_scale", scale.size(), count, "one for each element of the action");
    // holosoma's controller applies a shorter action to the last joints.
    const std::size_t first = deployment_.joints.size() - count;
    for (std::size_t i = 0; i < count; ++i) {
      Drive drive;
      drive.joint = static_cast<std::int64_t>(first + i);
      drive.scale = scale[i];
      drive.offset = deployment_.default_position[first + i];
      drive.action_lower = -kHolosomaClip;
      drive.action_upper = kHolosomaClip;
      deployment_.drives.push_back(drive);
    }
  }

  // A value for each of observation_names: the given values, one for all, or `otherwise`.
  std::vector<double> given(const char* key, const char* what, std::size_t count,
                            double otherwise) const {
    if (!fields_.has(key)) return std::vector<double>(count, otherwise);
    std::vector<double> values = fields_.numbers(key, what);
    if (values.size() == 1) values.assign(count, values[0]);
    fields_.check_count(key, values.size(), count, "one, or one for each of observation_names");
    return values;
  }

  void read_sorted_terms() {
    const std::vector<std::string> names =
        fields_.texts("observation_names",
                      "the terms of actor_obs, which holosoma keeps in its observation config");
    check_unique(fields_, "observation_names", names);
    const std::vector<double> scales =
        given("observation_terms_scale", "the scale of each term", names.size(), 1);
    const std::vector<double> lengths =
        given("observation_history_lengths", "the history of the terms", names.size(), 1);
    std::vector<std::int64_t> order = all_of(names.size());
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return names[static_cast<std::size_t>(a)] < names[static_cast<std::size_t>(b)];
    });
    for (const std::int64_t place : order) {
      const auto i = static_cast<std::size_t>(place);
      const KnownTerm known =
          find_term(names[i], static_cast<std::int64_t>(deployment_.joints.size()),
                    static_cast<std::int64_t>(deployment_.drives.size()));
      Term term;
      term.name = names[i];
      term.source = known.source;
      term.size = known.size;
      term.joints = all_of(deployment_.joints.size());
      term.scale = {scales[i]};
      term.ages = oldest_first(fields_, "observation_history_lengths", lengths[i]);
      deployment_.terms.push_back(std::move(term));
    }
  }

  void say_holosoma_notes() {
    std::vector<std::string>& notes = deployment_.notes;
    notes.push_back(
        "holosoma sorts the terms of a group alphabetically, and so does this bundle, whatever the "
        "order of observation_names (observation_sizes is alphabetical too)");
    notes.push_back("histories are stacked term by term, oldest frame first, and start as zeros");
    notes.push_back("the action is clipped to -100 .. 100, as in holosoma's controller");
    if (!fields_.has("observation_terms_scale")) {
      notes.push_back(
          "the file has no scales of observation terms, so they are 1 (--set "
          "observation_terms_scale=..)");
    }
    if (!deployment_.frequency) {
      notes.push_back("the file does not contain the frequency of the policy (--set frequency=50)");
    }
  }

  const Fields& fields_;
  const PolicyModel& policy_;
  const Port& action_;
  Deployment deployment_;
};

}  // namespace

bool is_holosoma(const Fields& fields) {
  return fields.has("dof_names") && fields.has("kp") && fields.has("kd");
}

Deployment read_holosoma(const Fields& fields, const PolicyModel& policy) {
  return HolosomaReader(fields, policy).read();
}

}  // namespace leapp::importing
