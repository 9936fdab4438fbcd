#include <nlohmann/json.hpp>
#include <string_view>

#include "base/check.h"
#include "bundle/json_tree.h"
#include "import/assembly.h"
#include "import/clock.h"
#include "import/formats.h"
#include "import/meaning.h"
#include "import/terms.h"

namespace leapp::importing {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTargets = "output.joint_targets.";

// Returns "obj.robot.joints.pos" without its last part.
std::string group_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(0, dot);
}

std::string_view last_part(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

/// Names of the quantities of bodies and inertial sensors.
struct BodyQuantity {
  std::string_view suffix;
  const char* kind;
  const char* unit;
  const char* frame;
};
constexpr BodyQuantity kBodyQuantities[] = {
    {"pos_b_rt_w_in_w", "state/body/position", "m", "world"},
    {"w_Q_b", "state/body/rotation", "", "world"},
    {"lin_vel_b_rt_w_in_b", "state/body/linear_velocity", "m/s", "base"},
    {"ang_vel_b_rt_w_in_b", "state/body/angular_velocity", "rad/s", "base"},
};

class ExployReader {
 public:
  ExployReader(const Fields& fields, const PolicyModel& policy, std::vector<std::string>& notes)
      : fields_(fields), policy_(policy), notes_(notes) {}

  Draft draft() {
    Part part;
    part.node.name = "policy";
    for (const Port& port : policy_.inputs) part.node.inputs.push_back(input(port));
    for (const Port& port : policy_.outputs) part.node.outputs.push_back(output(port));
    part.model = policy_.model;
    const std::vector<Port> inputs = part.node.inputs;
    if (const Port* count = policy_.find_input("ctx.step_count")) {
      add_clock(draft_, "policy", *count, policy_.model);
    }
    draft_.add(std::move(part));
    feed_back_recurrent(draft_, policy_, "policy");
    add_gains();
    deployment_.frequency = fields_.positive("update_rate");
    if (!deployment_.frequency) {
      notes_.push_back(
          "the file has no update_rate, so the frequency of the policy is unknown (--set "
          "update_rate=50)");
    }
    add_configs(draft_.configs(), deployment_, inputs);
    if (!policy_.recurrent().empty()) {
      notes_.push_back("the model's memory becomes state of the bundle and starts as zeros");
    }
    return std::move(draft_);
  }

 private:
  // Returns the JSON of a key, or null.
  Json entry(const std::string& key) const {
    const std::string* text = fields_.find(key);
    if (text == nullptr) return nullptr;
    Json json = parse_json(*text);
    if (json.is_discarded() || !json.is_object()) {
      fields_.fail(Code::kBadKey, key, "is not a JSON object");
    }
    return json;
  }

  std::vector<std::string> names(const Json& json, const std::string& key, const char* field,
                                 const Port& port) const {
    const auto found = json.find(field);
    if (json.is_null() || found == json.end()) {
      fields_.fail(Code::kMissingKey, key,
                   "does not say '" + std::string(field) + "', the joints of '" + port.name +
                       "' in order (--set '" + key + "={\"" + field + "\": [..]}')");
    }
    std::vector<std::string> values;
    for (const Json& value : *found) {
      if (!value.is_string()) fields_.fail(Code::kBadKey, key, "has joints that are not strings");
      values.push_back(value.get<std::string>());
    }
    fields_.check_count(key, values.size(),
                        static_cast<std::size_t>(port.shape.empty() ? 0 : port.shape.back()),
                        "one for each element of '" + port.name + "'");
    check_unique(fields_, key, values);
    return values;
  }

  std::vector<double> numbers(const Json& json, const std::string& key, const char* field,
                              std::size_t count) const {
    const auto found = json.find(field);
    if (found == json.end()) {
      fields_.fail(Code::kMissingKey, key, "does not say '" + std::string(field) + "'");
    }
    std::vector<double> values;
    for (const Json& value : *found) {
      if (!value.is_number() || !is_finite_float(value.get<double>())) {
        fields_.fail(
            Code::kBadKey, key,
            "has no finite numbers that a float32 can hold for '" + std::string(field) + "'");
      }
      values.push_back(value.get<double>());
    }
    fields_.check_count(key, values.size(), count, "one for each joint");
    return values;
  }

  // The model's port with the semantics from its name and metadata.
  static Port meaning(const Port& port, const Port& described) {
    Port result = port;
    const auto size = static_cast<std::int64_t>(
        std::get<std::vector<std::string>>(described.semantics.element_names->back()).size());
    if (port.shape.empty() || port.shape.back() != size) return result;
    result.semantics = described.semantics;
    return result;
  }

  Port input(const Port& port) {
    const std::string& name = port.name;
    const std::string group = group_of(name);
    if (name.starts_with("obj.") && group.ends_with(".joints")) {
      const bool position = last_part(name) == "pos";
      return meaning(
          port,
          vector_port(name, position ? "state/joint/position" : "state/joint/velocity",
                      names(entry(group), group, "joint_names", port), position ? "rad" : "rad/s"));
    }
    if (name.starts_with("cmd.joint_pos.")) {
      return meaning(port, vector_port(name, "command/joint/position",
                                       names(entry(name), name, "joint_names", port), "rad"));
    }
    if (name.starts_with("cmd.se2_velocity.")) {
      read_ranges(name);
      return meaning(port, vector_port(name, "command/body/velocity",
                                       {"lin_vel_x", "lin_vel_y", "ang_vel_z"}, "", "base"));
    }
    for (const BodyQuantity& quantity : kBodyQuantities) {
      if (last_part(name) != quantity.suffix) continue;
      const Port described =
          quantity.suffix == "w_Q_b"
              ? quaternion_port(name, quantity.frame)
              : vector_port(name, quantity.kind, {"x", "y", "z"}, quantity.unit, quantity.frame);
      return meaning(port, described);
    }
    return port;
  }

  void read_ranges(const std::string& key) {
    const Json json = entry(key);
    if (json.is_null() || !json.contains("ranges")) return;
    for (const auto& [element, value] : json["ranges"].items()) {
      const bool is_range = value.is_array() && value.size() == 2 && value[0].is_number() &&
                            value[1].is_number() && value[0] <= value[1];
      if (!is_range) {
        fields_.fail(Code::kBadKey, key,
                     "has no range for '" + element + "', expected [lower, upper]");
      }
      deployment_.command_ranges.push_back(
          {element, value[0].get<double>(), value[1].get<double>()});
    }
  }

  Port output(const Port& port) {
    if (!port.name.starts_with(kTargets)) return port;
    const std::string group = group_of(port.name);
    const std::vector<std::string> joints = names(entry(group), group, "names", port);
    const std::string_view what = last_part(port.name);
    if (what == "pos") {
      groups_.emplace_back(group, port);
      return meaning(port, vector_port(port.name, "target/joint/position", joints, "rad"));
    }
    if (what == "vel") {
      return meaning(port, vector_port(port.name, "target/joint/velocity", joints, "rad/s"));
    }
    return meaning(port, vector_port(port.name, "target/joint/effort", joints, "N m"));
  }

  // Adds the gains to the position targets that they belong to.
  void add_gains() {
    for (const auto& [group, port] : groups_) {
      const Json json = entry(group);
      const std::vector<std::string> joints = names(json, group, "names", port);
      const std::string node = groups_.size() == 1 ? "act" : "act_" + std::string(last_part(group));
      NodeWriter writer(node, policy_.model);
      const std::string target = writer.input(plain_port("target", port.shape));
      writer.output(vector_port("joint_pos_target", "target/joint/position", joints, "rad"),
                    writer.reshape(target, {1, static_cast<std::int64_t>(joints.size())}));
      for (const auto& [name, field] : {std::pair{"kp", "stiffness"}, std::pair{"kd", "damping"}}) {
        const std::vector<double> gains = numbers(json, group, field, joints.size());
        writer.output(vector_port(name, name, joints),
                      writer.floats(gains, {1, static_cast<std::int64_t>(gains.size())}));
      }
      draft_.add(std::move(writer).take());
      draft_.wire({"policy", port.name}, {node, "target"});
    }
  }

  const Fields& fields_;
  const PolicyModel& policy_;
  std::vector<std::string>& notes_;
  Deployment deployment_;
  std::vector<std::pair<std::string, Port>> groups_;
  Draft draft_;
};

}  // namespace

bool is_exploy(const Fields& fields) {
  return fields.has("exploy_version");
}

Draft draft_exploy(const Fields& fields, const PolicyModel& policy,
                   std::vector<std::string>& notes) {
  return ExployReader(fields, policy, notes).draft();
}

}  // namespace leapp::importing
