#include <algorithm>
#include <unordered_map>

#include "import/formats.h"
#include "import/meaning.h"
#include "import/terms.h"

namespace leapp::importing {
namespace {

// The format of mjlab and of other trainers that are derived from it.
class MjlabReader {
 public:
  MjlabReader(const Fields& fields, const PolicyModel& policy)
      : fields_(fields),
        observation_(observation_of(policy)),
        action_(action_of(policy)),
        tracks_(policy.find_input("time_step") != nullptr) {}

  Deployment read() {
    deployment_.format = is_mjlab_proper() ? "mjlab" : "beyondmimic";
    read_joints();
    read_drives();
    read_gains();
    if (tracks_) read_motion();
    read_terms();
    deployment_.frequency = fields_.positive("frequency");
    settle_terms(deployment_, fields_, observation_);
    say_what_was_assumed();
    return std::move(deployment_);
  }

 private:
  bool is_mjlab_proper() const { return fields_.has("observation_terms_history_length"); }

  void read_joints() {
    deployment_.joints = fields_.texts("joint_names", "the joints, in the policy's order");
    check_unique(fields_, "joint_names", deployment_.joints);
    deployment_.default_position =
        fields_.numbers("default_joint_pos", "the default position of each joint");
    fields_.check_count("default_joint_pos", deployment_.default_position.size(),
                        deployment_.joints.size(), "one for each of joint_names");
  }

  // The joints that the action drives. If there are fewer than joints, only the user knows them.
  std::vector<std::int64_t> driven_joints() const {
    const auto count = static_cast<std::size_t>(size_of_port(action_));
    if (!fields_.has("action_joint_names") && deployment_.joints.size() == count) {
      return all_of(count);
    }
    const std::vector<std::string> names = fields_.texts(
        "action_joint_names", "the joints that the action drives, in order (the action has " +
                                  std::to_string(count) + " elements, joint_names " +
                                  std::to_string(deployment_.joints.size()) + ")");
    fields_.check_count("action_joint_names", names.size(), count,
                        "one for each element of the action");
    check_unique(fields_, "action_joint_names", names);
    std::vector<std::int64_t> joints;
    for (const std::string& name : names) {
      const auto found = std::find(deployment_.joints.begin(), deployment_.joints.end(), name);
      if (found == deployment_.joints.end()) {
        fields_.fail(Code::kBadKey, "action_joint_names",
                     "has '" + name + "', which is not among joint_names");
      }
      joints.push_back(found - deployment_.joints.begin());
    }
    return joints;
  }

  void read_drives() {
    const std::vector<std::int64_t> joints = driven_joints();
    const std::vector<double> scale =
        fields_.numbers("action_scale", "the scale of the action: one, or one for each element");
    if (scale.size() != 1) {
      fields_.check_count("action_scale", scale.size(), joints.size(),
                          "one for each element of the action");
    }
    for (std::size_t i = 0; i < joints.size(); ++i) {
      Drive drive;
      drive.joint = joints[i];
      drive.scale = scale.size() == 1 ? scale[0] : scale[i];
      drive.offset = deployment_.default_position[static_cast<std::size_t>(joints[i])];
      if (drive.scale == 0) {
        fields_.fail(Code::kBadKey, "action_scale",
                     "is 0 for '" + deployment_.joints[static_cast<std::size_t>(joints[i])] +
                         "'. The file has three decimals, so a small scale was rounded to 0; give "
                         "it (--set action_scale=..)");
      }
      deployment_.drives.push_back(drive);
    }
  }

  // The file lists gains of actuated joints in the order of joint_names, not of the action.
  std::vector<double> gains(const char* key, const char* what) {
    const std::vector<double> listed = fields_.numbers(key, what);
    if (listed.size() == deployment_.joints.size()) return listed;
    fields_.check_count(key, listed.size(), deployment_.drives.size(),
                        "one for each joint, or one for each that the action drives");
    std::vector<std::int64_t> joints;
    for (const Drive& drive : deployment_.drives) joints.push_back(drive.joint);
    std::sort(joints.begin(), joints.end());
    std::vector<double> by_joint(deployment_.joints.size(), 0);
    for (std::size_t i = 0; i < joints.size(); ++i) {
      by_joint[static_cast<std::size_t>(joints[i])] = listed[i];
    }
    return by_joint;
  }

  void read_gains() {
    deployment_.stiffness = gains("joint_stiffness", "the stiffness of each joint");
    deployment_.damping = gains("joint_damping", "the damping of each joint");
    if (deployment_.drives.size() < deployment_.joints.size()) {
      deployment_.notes.push_back(
          "joint_stiffness and joint_damping list the driven joints in the order of joint_names; "
          "kp and kd list them by name");
    }
  }

  void read_motion() {
    Motion motion;
    motion.bodies = fields_.texts("body_names", "the bodies of the motion, in order");
    check_unique(fields_, "body_names", motion.bodies);
    const std::string anchor = fields_.text("anchor_body_name", "the motion's anchor body");
    const auto found = std::find(motion.bodies.begin(), motion.bodies.end(), anchor);
    if (found == motion.bodies.end()) {
      fields_.fail(Code::kBadKey, "anchor_body_name",
                   "is '" + anchor + "', which is not among body_names");
    }
    motion.anchor = found - motion.bodies.begin();
    deployment_.motion = std::move(motion);
  }

  Term known_term(const std::string& name) const {
    const auto joints = static_cast<std::int64_t>(deployment_.joints.size());
    const KnownTerm known =
        find_term(name, joints, static_cast<std::int64_t>(deployment_.drives.size()));
    Term term;
    term.name = name;
    term.source = known.source;
    term.size = known.size;
    term.joints = all_of(deployment_.joints.size());
    const bool of_motion =
        known.source == Source::kAnchorPosition || known.source == Source::kAnchorRotation;
    if (of_motion && !tracks_) term.source = Source::kGiven;
    if (tracks_ && name == "command") {
      term.source = Source::kReference;
      term.size = 2 * joints;
    }
    return term;
  }

  // One entry for each term, or none if the file does not have the key.
  std::vector<std::vector<double>> per_term(const char* key, const char* what) const {
    if (!fields_.has(key)) return {};
    std::vector<std::vector<double>> values = fields_.nested(key, what, Bounds::kMayBeInfinite);
    fields_.check_count(key, values.size(), deployment_.terms.size(), "one for each observation");
    return values;
  }

  void read_terms() {
    const std::vector<std::string> names =
        fields_.texts("observation_names", "the observation terms, in order");
    check_unique(fields_, "observation_names", names);
    for (const std::string& name : names) deployment_.terms.push_back(known_term(name));
    read_scales();
    read_clips();
    read_histories();
  }

  void read_scales() {
    const auto scales = per_term("observation_terms_scale", "the scale of each observation term");
    for (std::size_t i = 0; i < scales.size(); ++i) {
      Term& term = deployment_.terms[i];
      for (const double scale : scales[i]) {
        if (std::abs(scale) > 0 && std::abs(scale) < kInfinity) continue;
        fields_.fail(Code::kBadKey, "observation_terms_scale",
                     "is 0 or infinite for '" + term.name +
                         "'. The file has three decimals, so a small scale may have been rounded "
                         "to 0; give it (--set observation_terms_scale=..)");
      }
      term.scale = scales[i];
      if (term.size == 0 && scales[i].size() > 1) {
        term.size = static_cast<std::int64_t>(scales[i].size());
      }
    }
  }

  void read_clips() {
    const auto clips = per_term("observation_terms_clip", "the range of each observation term");
    for (std::size_t i = 0; i < clips.size(); ++i) {
      if (clips[i].size() != 2) {
        fields_.fail(Code::kBadKey, "observation_terms_clip",
                     "has no range for '" + deployment_.terms[i].name +
                         "'; expected two numbers, as -1.0;1.0");
      }
      deployment_.terms[i].lower = clips[i][0];
      deployment_.terms[i].upper = clips[i][1];
    }
  }

  void read_histories() {
    const char* key =
        is_mjlab_proper() ? "observation_terms_history_length" : "observation_history_lengths";
    const auto lengths = per_term(key, "the history of each observation term, in ticks");
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      deployment_.terms[i].ages = oldest_first(fields_, key, lengths[i][0]);
    }
    // Terms that keep their time axis are stacked frame by frame.
    const auto flat = per_term("observation_terms_flatten_history_dim",
                               "whether the history of each observation term is flattened");
    std::size_t unflattened = 0;
    std::size_t with_history = 0;
    for (std::size_t i = 0; i < flat.size(); ++i) {
      if (deployment_.terms[i].ages.size() < 2) continue;
      ++with_history;
      if (flat[i][0] == 0) ++unflattened;
    }
    if (unflattened != 0 && unflattened != with_history) {
      fields_.fail(Code::kBadKey, "observation_terms_flatten_history_dim",
                   "flattens some histories but not others. One observation cannot contain both");
    }
    deployment_.time_major = unflattened != 0;
  }

  void say_what_was_assumed() {
    std::vector<std::string>& notes = deployment_.notes;
    notes.push_back(
        "lists in the file have three decimals, so default_joint_pos, joint_stiffness, "
        "joint_damping and a listed action_scale are exact to 0.0005; --set gives exact values");
    notes.push_back(
        "assumed, because the file does not state it: joint positions are relative to "
        "default_joint_pos, "
        "and targets are default_joint_pos + action_scale * action");
    if (!fields_.has("observation_terms_scale")) {
      notes.push_back(
          "the file has no scales and ranges of observation terms, so the scales are 1 and nothing "
          "is clipped (--set observation_terms_scale=.., observation_terms_clip=..)");
    }
    if (!deployment_.frequency) {
      notes.push_back("the file does not contain the frequency of the policy (--set frequency=50)");
    }
    if (tracks_) {
      notes.push_back(
          "anchor_pos and anchor_quat are those of the robot's body '" +
          deployment_.motion->bodies[static_cast<std::size_t>(deployment_.motion->anchor)] +
          "' in the frame of the motion; align the world frame with it at the start");
    }
  }

  const Fields& fields_;
  const Port& observation_;
  const Port& action_;
  bool tracks_;
  Deployment deployment_;
};

}  // namespace

bool is_mjlab(const Fields& fields) {
  // Two keys are enough to recognise the format; other missing keys are then reported.
  const bool more = fields.has("observation_names") || fields.has("joint_stiffness") ||
                    fields.has("default_joint_pos");
  return fields.has("joint_names") && more;
}

Deployment read_mjlab(const Fields& fields, const PolicyModel& policy) {
  return MjlabReader(fields, policy).read();
}

}  // namespace leapp::importing
