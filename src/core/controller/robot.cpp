#include "leapp/robot.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"
#include "base/input_file.h"
#include "base/utf8.h"
#include "bundle/yaml_tree.h"
#include "controller/port_layout.h"
#include "controller/strict_yaml.h"
#include "leapp/error.h"

namespace leapp {
namespace {

using Kind = YamlNode::Kind;

bool is_of_joints(const std::string& kind) {
  return kind == "kp" || kind == "kd" || kind.find("/joint/") != std::string::npos;
}

std::vector<std::string> quaternion_elements(QuaternionOrder order) {
  if (order == QuaternionOrder::kWxyz) return {"qw", "qx", "qy", "qz"};
  return {"qx", "qy", "qz", "qw"};
}

class RobotReader {
 public:
  explicit RobotReader(const std::string& file) : yaml_(file, Code::kRobotFile) {}

  Robot read(const YamlNode& root) const {
    yaml_.expect_keys(root, {"rate", "joints", "sensors", "actuators", "capabilities"});
    Robot robot;
    const YamlNode* const rate = root.find("rate");
    if (rate == nullptr)
      yaml_.fail(root, "'rate' is missing: the frequency of the control loop, in Hz");
    robot.rate = yaml_.number(*rate);
    if (!(robot.rate > 0) || !std::isfinite(robot.rate)) {
      yaml_.fail(*rate, "the rate of the loop must be positive, found " + describe(*rate));
    }
    if (const YamlNode* const joints = root.find("joints")) robot.joints = yaml_.names(*joints);
    if (const YamlNode* const list = root.find("capabilities")) {
      robot.capabilities = yaml_.names(*list);
    }
    robot.sensors = read_signals(root.find("sensors"), robot.joints);
    robot.actuators = read_signals(root.find("actuators"), robot.joints);
    return robot;
  }

 private:
  std::vector<Signal> read_signals(const YamlNode* node,
                                   const std::vector<std::string>& joints) const {
    if (node == nullptr || node->is_null()) return {};
    if (node->kind != Kind::kMapping) {
      yaml_.fail(*node, "expected a mapping from names to signals, found " + describe(*node));
    }
    std::vector<Signal> signals;
    for (const YamlEntry& entry : node->entries) {
      signals.push_back(read_signal(entry.key, entry.value, joints));
    }
    return signals;
  }

  Signal read_signal(const YamlNode& key, const YamlNode& node,
                     const std::vector<std::string>& joints) const {
    yaml_.expect_keys(node, {"kind", "elements", "unit", "frame", "quaternion", "ports",
                             "interfaces", "heartbeat"});
    Signal signal;
    signal.name = yaml_.text(key);
    const YamlNode* const kind = node.find("kind");
    if (kind == nullptr) yaml_.fail(key, "the signal has no 'kind', such as state/joint/position");
    signal.kind = yaml_.text(*kind);
    if (const YamlNode* const unit = node.find("unit")) signal.unit = yaml_.text(*unit);
    if (const YamlNode* const frame = node.find("frame")) signal.frame = yaml_.text(*frame);
    if (const YamlNode* const order = node.find("quaternion")) {
      signal.quaternion = read_quaternion(*order);
    }
    if (const YamlNode* const ports = node.find("ports")) signal.ports = yaml_.names(*ports);
    if (const YamlNode* const names = node.find("interfaces")) {
      signal.interfaces = yaml_.text(*names);
      if (signal.interfaces.find("{}") == std::string::npos) {
        yaml_.fail(*names, "expected {} as the placeholder for an element's name, found " +
                               describe(*names));
      }
    }
    if (const YamlNode* const beat = node.find("heartbeat")) signal.heartbeat = yaml_.text(*beat);
    if (const YamlNode* const elements = node.find("elements")) {
      signal.elements = yaml_.names(*elements);
    } else if (is_of_joints(signal.kind)) {
      signal.elements = joints;
    } else if (signal.quaternion) {
      signal.elements = quaternion_elements(*signal.quaternion);
    }
    if (signal.elements.empty()) {
      yaml_.fail(key, "the signal has no elements; give 'elements', a name for each number");
    }
    return signal;
  }

  QuaternionOrder read_quaternion(const YamlNode& node) const {
    const std::string order = yaml_.text(node);
    if (order == "wxyz") return QuaternionOrder::kWxyz;
    if (order == "xyzw") return QuaternionOrder::kXyzw;
    yaml_.fail(node, "expected wxyz or xyzw, found " + describe(node));
  }

  StrictYaml yaml_;
};

void check_names(const std::vector<std::string>& names, const std::string& what) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    require(!name.empty(), Code::kRobotFile, what + ": a name must not be empty");
    require(seen.insert(name).second, Code::kRobotFile,
            what + ": " + quote_for_message(name) + " appears twice");
  }
}

void check_signals(const std::vector<Signal>& signals, const std::string& side) {
  std::vector<std::string> names;
  for (const Signal& signal : signals) {
    const std::string what = side + " " + quote_for_message(signal.name);
    names.push_back(signal.name);
    require(!signal.kind.empty(), Code::kRobotFile, what + " has no kind");
    require(!signal.elements.empty(), Code::kRobotFile, what + " has no elements");
    check_names(signal.elements, what);
    require(!signal.quaternion || signal.elements.size() >= 4, Code::kRobotFile,
            what + " has a quaternion but fewer than four elements");
    std::vector<std::string> elements = signal.elements;
    require(name_quaternion(elements, signal.quaternion), Code::kRobotFile,
            what +
                ": its quaternion and the names of its last four elements contradict each other. "
                "The policy would read a wrong attitude; correct one of them.");
    require(signal.heartbeat.empty() || side == "sensor", Code::kRobotFile,
            what + " has a heartbeat, but only sensors can have one");
  }
  check_names(names, side + "s");
}

}  // namespace

void check(const Robot& robot) {
  require(robot.rate > 0 && std::isfinite(robot.rate), Code::kRobotFile,
          "the rate of the loop must be positive, found " + std::to_string(robot.rate));
  check_names(robot.joints, "joints");
  check_names(robot.capabilities, "capabilities");
  check_signals(robot.sensors, "sensor");
  check_signals(robot.actuators, "actuator");
}

Robot parse_robot(std::string_view yaml, const std::string& name) {
  Robot robot = RobotReader(name).read(parse_yaml(yaml, name));
  check(robot);
  return robot;
}

Robot read_robot(const std::filesystem::path& yaml) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;
  return parse_robot(read_file(yaml, kMostBytes), yaml.string());
}

}  // namespace leapp
