#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/check.h"
#include "import/formats.h"
#include "import/meaning.h"
#include "import/motors.h"
#include "import/terms.h"
#include "import/text_file.h"
#include "import/yaml_fields.h"

namespace leapp::importing {
namespace {

/// The period of rl_sar's "g1_phase" in seconds, a constant in its controller.
constexpr double kG1Period = 0.8;

bool has_observations(const YamlNode& node) {
  const YamlNode* terms =
      node.kind == YamlNode::Kind::kMapping ? node.find("observations") : nullptr;
  return terms != nullptr && terms->kind == YamlNode::Kind::kSequence;
}

// The one mapping under "<robot>/<config>:", or the file itself.
const YamlNode& inner(const YamlNode& root) {
  const bool wrapped = root.kind == YamlNode::Kind::kMapping && root.entries.size() == 1 &&
                       root.entries[0].value.kind == YamlNode::Kind::kMapping;
  return wrapped ? root.entries[0].value : root;
}

class RlSarReader {
 public:
  RlSarReader(const YamlNode& root, const YamlNode* base, const std::string& base_file,
              const Fields& settings, const PolicyModel& policy)
      : config_(inner(root), settings.file()), settings_(settings), policy_(policy) {
    if (base != nullptr) base_.emplace(inner(*base), base_file);
  }

  Deployment read() {
    deployment_.format = "rl_sar";
    deployment_.fill = Fill::kZeros;
    const std::vector<std::int64_t> map = read_mapping();
    motors_.emplace(map);
    deployment_.joints = joint_names();
    default_position_ = per_joint("default_dof_pos", "the default position of each joint");
    deployment_.default_position = motors_->from_policy(default_position_);
    deployment_.stiffness = motors_->from_policy(per_joint("rl_kp", "the stiffness of each joint"));
    deployment_.damping = motors_->from_policy(per_joint("rl_kd", "the damping of each joint"));
    read_wheels();
    read_frequency();
    read_rl_sar_drives();
    read_rl_sar_terms();
    settle_terms(deployment_, settings_, observation_of(policy_));
    check_frame();
    say_rl_sar_notes();
    return std::move(deployment_);
  }

 private:
  // The config takes precedence over the robot's base.
  const YamlFields& having(const std::string& key) const {
    return config_.find(key) == nullptr && base_ && base_->find(key) != nullptr ? *base_ : config_;
  }
  bool has(const std::string& key) const { return having(key).find(key) != nullptr; }

  std::vector<std::int64_t> read_mapping() {
    const double count = having("num_of_dofs").number("num_of_dofs", "how many joints there are");
    if (!(count >= 1) || count > static_cast<double>(kMaxList) || count != std::floor(count)) {
      having("num_of_dofs")
          .fail(Code::kBadKey, *having("num_of_dofs").find("num_of_dofs"),
                "'num_of_dofs' must be a whole number from 1");
    }
    count_ = static_cast<std::size_t>(count);
    if (!has("joint_mapping")) {
      deployment_.notes.push_back(
          "joint_mapping is missing, so joints are in the order of the motors");
      return all_of(count_);
    }
    const YamlFields& fields = having("joint_mapping");
    std::vector<std::int64_t> map = fields.integers("joint_mapping", "the motor of each joint");
    const std::unordered_set<std::int64_t> motors(map.begin(), map.end());
    if (map.size() != count_ || motors.size() != count_) {
      fields.fail(Code::kBadKey, *fields.find("joint_mapping"),
                  "'joint_mapping' must name a motor for each of the " + std::to_string(count_) +
                      " joints, each once");
    }
    return map;
  }

  // rl_sar lists joints by motor.
  std::vector<std::string> joint_names() const {
    const bool by_motor = static_cast<std::size_t>(motors_->motors().back()) == count_ - 1;
    if (settings_.has("joint_names") || !has("joint_names") || !by_motor) {
      return motors_->names(settings_);
    }
    const YamlFields& fields = having("joint_names");
    std::vector<std::string> names = fields.texts("joint_names", "the joints by motor");
    settings_.check_count("joint_names", names.size(), count_, "one for each joint");
    check_unique(settings_, "joint_names", names);
    return names;
  }

  std::vector<double> per_joint(const char* key, const char* what) const {
    return having(key).numbers(key, what, count_);
  }

  void read_wheels() {
    wheel_.assign(count_, false);
    if (!has("wheel_indices")) return;
    const YamlFields& fields = having("wheel_indices");
    for (const std::int64_t wheel : fields.integers("wheel_indices", "joints that are wheels")) {
      if (static_cast<std::size_t>(wheel) >= count_) {
        fields.fail(Code::kBadKey, *fields.find("wheel_indices"),
                    "'wheel_indices' has " + std::to_string(wheel) + ", and there are " +
                        std::to_string(count_) + " joints");
      }
      wheel_[static_cast<std::size_t>(wheel)] = true;
    }
  }

  void read_frequency() {
    deployment_.frequency = settings_.positive("frequency");
    if (deployment_.frequency || !has("dt") || !has("decimation")) return;
    const double step = having("dt").number("dt", "the seconds of a control step") *
                        having("decimation").number("decimation", "control steps of a tick");
    if (!(step > 0))
      config_.fail(Code::kBadKey, config_.node(), "dt and decimation must be positive");
    deployment_.frequency = 1 / step;
  }

  void read_rl_sar_drives() {
    const Port& action = action_of(policy_);
    require(static_cast<std::int64_t>(count_) == size_of_port(action), Code::kPolicyMismatch,
            settings_.file() + ": num_of_dofs is " + std::to_string(count_) +
                ", but the model's output '" + action.name + "' has " +
                std::to_string(size_of_port(action)) +
                " elements. The file belongs to a different policy");
    const std::vector<double> scale = per_joint("action_scale", "the scale of the action");
    const auto bound = [&](const char* key, double otherwise) {
      return has(key) ? per_joint(key, "the bound of each element of the action")
                      : std::vector<double>(count_, otherwise);
    };
    const std::vector<double> lower = bound("clip_actions_lower", -kInfinity);
    const std::vector<double> upper = bound("clip_actions_upper", kInfinity);
    for (std::size_t i = 0; i < count_; ++i) {
      Drive drive;
      drive.joint = motors_->joint(i);
      drive.velocity = wheel_[i];
      drive.scale = scale[i];
      drive.offset = wheel_[i] ? 0 : default_position_[i];
      drive.action_lower = lower[i];
      drive.action_upper = upper[i];
      deployment_.drives.push_back(drive);
    }
  }

  std::vector<double> scale_of(const char* key, std::size_t count) const {
    return having(key).numbers(key, "the scale of an observation term", count);
  }

  Term rl_sar_term(const std::string& name) const {
    const auto joints = static_cast<std::int64_t>(count_);
    const KnownTerm known = find_term(name, joints, joints);
    Term term;
    term.name = name;
    term.source = known.source;
    term.size = known.size;
    term.joints = motors_->joints(all_of(count_));
    if (name == "lin_vel") term.scale = scale_of("lin_vel_scale", 1);
    if (name.starts_with("ang_vel")) {  // its controller rotates all of them into the base frame
      term.name = "ang_vel";
      term.size = 3;
      term.scale = scale_of("ang_vel_scale", 1);
    }
    if (name == "gravity_vec") term.name = "projected_gravity";
    if (name == "commands") term.scale = scale_of("commands_scale", 3);
    if (name == "dof_vel") term.scale = scale_of("dof_vel_scale", 1);
    if (name == "dof_pos") {  // the angle of a wheel has no meaning
      term.scale.assign(count_, scale_of("dof_pos_scale", 1)[0]);
      for (std::size_t i = 0; i < count_; ++i) {
        if (wheel_[i]) term.scale[i] = 0;
      }
    }
    if (name == "g1_phase") {
      if (!deployment_.frequency) {
        settings_.fail(Code::kMissingKey, "frequency",
                       "is missing, but 'g1_phase' needs it. Give base.yaml with dt and "
                       "decimation, or the frequency of the policy (--set frequency=50)");
      }
      term.source = Source::kPhase;
      term.size = 2;
      term.period = kG1Period * *deployment_.frequency;
      term.first_tick = 1;  // its controller increments the counter before it reads it
    }
    return term;
  }

  void read_rl_sar_terms() {
    std::vector<std::int64_t> ages = {0};
    if (const YamlNode* history = config_.find("observations_history");
        history != nullptr && !history->items.empty()) {
      ages = config_.integers("observations_history", "ages of frames, 0 is the newest");
    }
    for (const std::int64_t age : ages) {
      if (age >= kMaxHistory) {
        config_.fail(Code::kBadKey, *config_.find("observations_history"),
                     "'observations_history' has " + std::to_string(age) +
                         ", expected ages below " + std::to_string(kMaxHistory));
      }
    }
    read_priority();
    const double clip = config_.number("clip_obs", "the bound of all observations");
    const std::vector<std::string> names =
        config_.texts("observations", "the observation terms, in order");
    check_unique(settings_, "observations", names);
    for (const std::string& name : names) {
      Term term = rl_sar_term(name);
      term.ages = ages;
      term.scale_first = true;
      term.lower = -std::abs(clip);
      term.upper = std::abs(clip);
      deployment_.terms.push_back(std::move(term));
    }
    if (names.empty()) config_.fail(Code::kBadKey, config_.node(), "there are no observations");
  }

  void read_priority() {
    const YamlNode* priority = config_.find("observations_history_priority");
    const std::string order = priority == nullptr ? "time" : priority->text;
    if (order != "time" && order != "term") {
      config_.fail(
          Code::kBadKey, *priority,
          "'observations_history_priority' is " + describe(*priority) + ", expected time or term");
    }
    deployment_.time_major = order == "time";
  }

  void check_frame() const {
    if (config_.find("num_observations") == nullptr) return;
    const double stated = config_.number("num_observations", "values of one frame");
    std::int64_t frame = 0;
    for (const Term& term : deployment_.terms) frame += term.size;
    require(stated == static_cast<double>(frame), Code::kPolicyMismatch,
            settings_.file() + ": num_observations is " +
                std::to_string(static_cast<std::int64_t>(stated)) +
                ", but the observation terms have " + std::to_string(frame) + " values");
  }

  void say_rl_sar_notes() {
    std::vector<std::string>& notes = deployment_.notes;
    notes.push_back(
        "rl_kp, rl_kd and default_dof_pos are in the policy's order; the ports are in the order of "
        "the motors. The bundle applies joint_mapping");
    if (deployment_.terms[0].ages.size() > 1) {
      notes.push_back(
          std::string("histories are stacked ") +
          (deployment_.time_major ? "frame by frame" : "term by term") +
          ", in the order of observations_history (0 is the newest), and start as zeros");
    }
    if (!base_) {
      notes.push_back(
          "there is no base.yaml in the parent directory, so the joints are named motor_<number>; "
          "--set joint_names=.. names them, by ascending motor");
    }
    if (!deployment_.frequency) {
      notes.push_back("the files do not contain the frequency of the policy (--set frequency=50)");
    }
  }

  YamlFields config_;
  std::optional<YamlFields> base_;
  const Fields& settings_;
  const PolicyModel& policy_;
  std::size_t count_ = 0;
  std::optional<Motors> motors_;
  std::vector<double> default_position_;  // in the policy's order
  std::vector<bool> wheel_;
  Deployment deployment_;
};

}  // namespace

bool is_rl_sar(const YamlNode& root) {
  return has_observations(inner(root));
}

Deployment read_rl_sar(const YamlNode& root, const std::filesystem::path& file,
                       const Fields& settings, const PolicyModel& policy) {
  std::error_code ignored;
  const std::filesystem::path above =
      std::filesystem::absolute(file, ignored).parent_path().parent_path() / "base.yaml";
  if (!std::filesystem::exists(above, ignored)) {
    return RlSarReader(root, nullptr, {}, settings, policy).read();
  }
  const YamlNode base = parse_yaml(read_text(above), above.string());
  return RlSarReader(root, &base, above.string(), settings, policy).read();
}

}  // namespace leapp::importing
