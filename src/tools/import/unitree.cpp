#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/check.h"
#include "import/formats.h"
#include "import/meaning.h"
#include "import/motors.h"
#include "import/terms.h"
#include "import/yaml_fields.h"

namespace leapp::importing {
namespace {

constexpr const char* kMapKey = "joint_ids_map";

class UnitreeReader {
 public:
  UnitreeReader(const YamlNode& root, const Fields& settings, const PolicyModel& policy)
      : file_(root, settings.file()), settings_(settings), policy_(policy), motors_(read_map()) {}

  Deployment read() {
    deployment_.format = "unitree_rl_lab";
    deployment_.joints = motors_.names(settings_);
    const double step = file_.number("step_dt", "the seconds of a tick");
    if (!(step > 0))
      file_.fail(Code::kBadKey, *file_.find("step_dt"), "'step_dt' must be positive");
    deployment_.frequency = 1 / step;
    deployment_.default_position = motors_.from_policy(
        file_.numbers("default_joint_pos", "one for each of joint_ids_map", motors_.count()));
    deployment_.stiffness = by_motor("stiffness");
    deployment_.damping = by_motor("damping");
    read_actions();
    read_observations();
    read_commands();
    settle_terms(deployment_, settings_, observation_of(policy_));
    say_unitree_notes();
    return std::move(deployment_);
  }

 private:
  std::vector<std::int64_t> read_map() const {
    std::vector<std::int64_t> map =
        file_.integers(kMapKey, "the motor of each joint of the policy");
    const std::unordered_set<std::int64_t> motors(map.begin(), map.end());
    if (map.empty() || motors.size() != map.size()) {
      file_.fail(Code::kBadKey, *file_.find(kMapKey),
                 "'joint_ids_map' must name each motor once, and at least one");
    }
    return map;
  }

  // This format has a trap: gains are by motor, everything else by the policy's joint.
  std::vector<double> by_motor(const char* key) const {
    const std::vector<double> values = file_.numbers(key, "by motor of the SDK");
    const auto needed = static_cast<std::size_t>(motors_.motors().back()) + 1;
    if (values.size() < needed) {
      file_.fail(Code::kBadKey, *file_.find(key),
                 "'" + std::string(key) + "' has " + std::to_string(values.size()) +
                     " values, expected at least " + std::to_string(needed) +
                     ". It is in the order of the SDK's motors, and joint_ids_map names motor " +
                     std::to_string(needed - 1));
    }
    return motors_.from_motors(values);
  }

  // Returns the indices of the policy's joints, by default all of them.
  std::vector<std::int64_t> policy_joints(const YamlFields& fields) const {
    if (fields.find("joint_ids") == nullptr) return all_of(motors_.count());
    std::vector<std::int64_t> ids = fields.integers("joint_ids", "joints of the policy");
    for (const std::int64_t id : ids) {
      if (static_cast<std::size_t>(id) >= motors_.count()) {
        fields.fail(Code::kBadKey, *fields.find("joint_ids"),
                    "'" + fields.path_of("joint_ids") + "' has " + std::to_string(id) +
                        ", but the policy supports " + std::to_string(motors_.count()) + " joints");
      }
    }
    return ids;
  }

  void read_actions() {
    const YamlFields actions = file_.mapping("actions", "the terms of the action");
    std::unordered_set<std::int64_t> driven;
    for (const YamlEntry& entry : actions.node().entries) {
      const std::string& type = entry.key.text;
      if (type != "JointPositionAction" && type != "JointVelocityAction") {
        actions.fail(Code::kBadKey, entry.key,
                     "the action term '" + type +
                         "' is unknown; expected JointPositionAction or JointVelocityAction");
      }
      add_drives(actions.mapping(type, "its settings"), type == "JointVelocityAction");
    }
    for (const Drive& drive : deployment_.drives) {
      if (!driven.insert(drive.joint).second) {
        actions.fail(Code::kBadKey, actions.node(), "'actions' drive one joint twice");
      }
    }
    const Port& action = action_of(policy_);
    require(static_cast<std::int64_t>(deployment_.drives.size()) == size_of_port(action),
            Code::kPolicyMismatch,
            settings_.file() + ": the actions drive " + std::to_string(deployment_.drives.size()) +
                " joints, but the model's output '" + action.name + "' has " +
                std::to_string(size_of_port(action)) +
                " elements. The file belongs to a different policy");
  }

  void add_drives(const YamlFields& term, bool velocity) {
    const std::vector<std::int64_t> ids = policy_joints(term);
    const std::vector<double> scale =
        term.numbers("scale", "one for each joint it drives", ids.size());
    const std::vector<double> offset =
        term.find("offset") == nullptr
            ? std::vector<double>(ids.size(), 0)
            : term.numbers("offset", "one for each joint it drives", ids.size());
    const YamlNode* clip = term.find("clip");
    if (clip != nullptr && clip->items.size() != ids.size()) {
      term.fail(Code::kBadKey, *clip,
                "'" + term.path_of("clip") + "' must have a range for each joint it drives");
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
      Drive drive;
      drive.joint = motors_.joint(static_cast<std::size_t>(ids[i]));
      drive.velocity = velocity;
      drive.scale = scale[i];
      drive.offset = offset[i];
      if (clip != nullptr) {
        std::tie(drive.lower, drive.upper) = range(term, clip->items[i]);
      }
      deployment_.drives.push_back(drive);
    }
  }

  static std::pair<double, double> range(const YamlFields& fields, const YamlNode& node) {
    const std::vector<double> ends = fields.numbers_of(node, "a range, [lower, upper]");
    if (ends.size() != 2 || ends[0] > ends[1]) {
      fields.fail(Code::kBadKey, node, "expected a range, [lower, upper]");
    }
    return {ends[0], ends[1]};
  }

  // A model with several inputs has a group of terms for each; a policy with one input has no
  // groups, or one.
  YamlFields observation_terms() const {
    YamlFields observations = file_.mapping("observations", "the observation terms");
    std::vector<std::string> groups;
    for (const YamlEntry& entry : observations.node().entries) {
      const bool is_group =
          entry.value.kind == YamlNode::Kind::kMapping && entry.value.find("params") == nullptr &&
          entry.value.find("scale") == nullptr && entry.value.find("history_length") == nullptr;
      if (is_group) groups.push_back(entry.key.text);
    }
    if (groups.empty()) return observations;
    if (groups.size() > 1) {
      observations.fail(Code::kBadKey, observations.node(),
                        "the observations have several groups ('" + groups[0] + "', '" + groups[1] +
                            "'), but only policies with one observation can be imported");
    }
    return observations.mapping(groups[0], "the observation terms");
  }

  void read_observations() {
    const YamlFields terms = observation_terms();
    deployment_.time_major = terms.flag("use_gym_history", false);
    const bool scale_first = terms.flag("scale_first", false);
    for (const YamlEntry& entry : terms.node().entries) {
      const std::string& name = entry.key.text;
      if (name == "use_gym_history" || name == "scale_first") continue;
      Term term = read_term(terms.mapping(name, "its settings"), name);
      term.scale_first = scale_first;
      deployment_.terms.push_back(std::move(term));
    }
    if (deployment_.terms.empty()) {
      terms.fail(Code::kBadKey, terms.node(), "there are no observation terms");
    }
  }

  Term read_term(const YamlFields& fields, const std::string& name) const {
    const KnownTerm known = find_term(name, static_cast<std::int64_t>(motors_.count()),
                                      static_cast<std::int64_t>(deployment_.drives.size()));
    Term term;
    term.name = name;
    term.source = known.source;
    term.size = known.size;
    const bool of_joints =
        known.source == Source::kJointPosition || known.source == Source::kJointVelocity;
    if (of_joints) {
      const std::vector<std::int64_t> ids = observed_joints(fields);
      term.joints = motors_.joints(ids);
      term.size = static_cast<std::int64_t>(ids.size());
    }
    if (name == "gait_phase") set_phase(fields, term);
    if (const YamlNode* scale = fields.find("scale")) {
      term.scale = scale->kind == YamlNode::Kind::kScalar
                       ? fields.numbers("scale", "of the term", 1)
                       : fields.numbers("scale", "of the term");
      if (term.size == 0) term.size = static_cast<std::int64_t>(term.scale.size());
    }
    if (const YamlNode* clip = fields.find("clip")) {
      std::tie(term.lower, term.upper) = range(fields, *clip);
    }
    if (fields.find("history_length") != nullptr) {
      term.ages = oldest_first(settings_, fields.path_of("history_length"),
                               fields.number("history_length", "in ticks"));
    }
    return term;
  }

  std::vector<std::int64_t> observed_joints(const YamlFields& fields) const {
    if (fields.find("params") == nullptr) return all_of(motors_.count());
    const YamlFields params = fields.mapping("params", "of the term");
    if (params.find("asset_cfg") == nullptr) return all_of(motors_.count());
    const YamlFields asset = params.mapping("asset_cfg", "of the term");
    const YamlNode* ids = asset.find("joint_ids");
    // Isaac Lab writes "all" as a slice.
    if (ids == nullptr || ids->kind != YamlNode::Kind::kSequence) return all_of(motors_.count());
    return policy_joints(asset);
  }

  void set_phase(const YamlFields& fields, Term& term) const {
    const double period = fields.mapping("params", "with the period of the gait")
                              .number("period", "the seconds of a gait cycle");
    if (!(period > 0)) fields.fail(Code::kBadKey, fields.node(), "the period must be positive");
    term.source = Source::kPhase;
    term.size = 2;
    term.period = period * *deployment_.frequency;
  }

  void read_commands() {
    if (file_.find("commands") == nullptr) return;
    const YamlFields commands = file_.mapping("commands", "the ranges of commands");
    if (commands.find("base_velocity") == nullptr) return;
    const YamlFields velocity = commands.mapping("base_velocity", "its ranges");
    if (velocity.find("ranges") == nullptr) return;
    const YamlFields ranges = velocity.mapping("ranges", "of the commands");
    for (const char* element : {"lin_vel_x", "lin_vel_y", "ang_vel_z"}) {
      const YamlNode* node = ranges.find(element);
      if (node == nullptr) continue;
      const auto [lower, upper] = range(ranges, *node);
      deployment_.command_ranges.push_back({element, lower, upper});
    }
  }

  void say_unitree_notes() {
    std::vector<std::string>& notes = deployment_.notes;
    notes.push_back(
        "stiffness and damping are in the SDK's motor order; pose, scale and offset are in the "
        "policy's order. All ports are in the SDK's order; the bundle applies joint_ids_map");
    notes.push_back("numbers in the file have three significant digits");
    const bool has_history = std::any_of(deployment_.terms.begin(), deployment_.terms.end(),
                                         [](const Term& term) { return term.ages.size() > 1; });
    if (has_history) {
      notes.push_back(deployment_.time_major
                          ? "histories are stacked frame by frame (use_gym_history), oldest first, "
                            "and start filled with the first frame"
                          : "histories are stacked term by term, oldest frame first, and start "
                            "filled with the first frame");
    }
    if (!settings_.has("joint_names")) {
      notes.push_back(
          "the file does not name the joints, so they are named motor_<number> (--set "
          "joint_names=.. by ascending motor)");
    }
  }

  YamlFields file_;
  const Fields& settings_;
  const PolicyModel& policy_;
  Motors motors_;
  Deployment deployment_;
};

}  // namespace

bool is_unitree(const YamlNode& root) {
  return root.kind == YamlNode::Kind::kMapping && root.find(kMapKey) != nullptr;
}

Deployment read_unitree(const YamlNode& root, const Fields& settings, const PolicyModel& policy) {
  return UnitreeReader(root, settings, policy).read();
}

}  // namespace leapp::importing
