#include "leapp/robot.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"
#include "base/input_file.h"
#include "base/utf8.h"
#include "bundle/yaml_scalar.h"
#include "bundle/yaml_tree.h"
#include "controller/port_layout.h"
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
  explicit RobotReader(const std::string& file) : file_(file) {}

  Robot read(const YamlNode& root) const {
    expect_keys(root, {"rate", "joints", "sensors", "actuators", "capabilities"});
    Robot robot;
    const YamlNode* const rate = root.find("rate");
    if (rate == nullptr) fail(root, "'rate' is missing: how many times a second the loop runs");
    robot.rate = read_number(*rate);
    if (!(robot.rate > 0) || !std::isfinite(robot.rate)) {
      fail(*rate, "the rate of the loop must be positive, found " + describe(*rate));
    }
    if (const YamlNode* const joints = root.find("joints")) robot.joints = read_names(*joints);
    if (const YamlNode* const list = root.find("capabilities")) {
      robot.capabilities = read_names(*list);
    }
    robot.sensors = read_signals(root.find("sensors"), robot.joints);
    robot.actuators = read_signals(root.find("actuators"), robot.joints);
    return robot;
  }

 private:
  [[noreturn]] void fail(const YamlNode& node, const std::string& what) const {
    throw Error(Code::kRobotFile, position(file_, node) + what);
  }

  void expect_keys(const YamlNode& node, std::initializer_list<std::string_view> keys) const {
    if (node.kind != Kind::kMapping) fail(node, "expected a mapping, found " + describe(node));
    for (const YamlEntry& entry : node.entries) {
      if (std::find(keys.begin(), keys.end(), entry.key.text) != keys.end()) continue;
      std::string known;
      for (const std::string_view key : keys)
        known += (known.empty() ? "" : ", ") + std::string(key);
      fail(entry.key, "there is no " + quote_for_message(entry.key.text) + "; there are: " + known);
    }
  }

  double read_number(const YamlNode& node) const {
    const Metadata value = node.kind == Kind::kScalar ? resolve_scalar(node) : Metadata{};
    if (const auto* const integer = std::get_if<std::int64_t>(&value.value)) {
      return static_cast<double>(*integer);
    }
    if (const auto* const number = std::get_if<double>(&value.value)) return *number;
    fail(node, "expected a number, found " + describe(node));
  }

  std::string read_text(const YamlNode& node) const {
    if (node.kind != Kind::kScalar || node.is_null() || node.text.empty()) {
      fail(node, "expected text, found " + describe(node));
    }
    return node.text;
  }

  std::vector<std::string> read_names(const YamlNode& node) const {
    if (node.kind != Kind::kSequence) fail(node, "expected a list, found " + describe(node));
    std::vector<std::string> names;
    std::set<std::string> seen;
    for (const YamlNode& item : node.items) {
      names.push_back(read_text(item));
      if (!seen.insert(names.back()).second) {
        fail(item, quote_for_message(names.back()) + " stands there twice");
      }
    }
    return names;
  }

  std::vector<Signal> read_signals(const YamlNode* node,
                                   const std::vector<std::string>& joints) const {
    if (node == nullptr || node->is_null()) return {};
    if (node->kind != Kind::kMapping) {
      fail(*node, "expected a mapping from names to signals, found " + describe(*node));
    }
    std::vector<Signal> signals;
    for (const YamlEntry& entry : node->entries) {
      signals.push_back(read_signal(entry.key, entry.value, joints));
    }
    return signals;
  }

  Signal read_signal(const YamlNode& key, const YamlNode& node,
                     const std::vector<std::string>& joints) const {
    expect_keys(node, {"kind", "elements", "unit", "frame", "quaternion", "ports", "interfaces",
                       "heartbeat"});
    Signal signal;
    signal.name = read_text(key);
    const YamlNode* const kind = node.find("kind");
    if (kind == nullptr) fail(key, "the signal has no 'kind', such as state/joint/position");
    signal.kind = read_text(*kind);
    if (const YamlNode* const unit = node.find("unit")) signal.unit = read_text(*unit);
    if (const YamlNode* const frame = node.find("frame")) signal.frame = read_text(*frame);
    if (const YamlNode* const order = node.find("quaternion")) {
      signal.quaternion = read_quaternion(*order);
    }
    if (const YamlNode* const ports = node.find("ports")) signal.ports = read_names(*ports);
    if (const YamlNode* const names = node.find("interfaces")) {
      signal.interfaces = read_text(*names);
      if (signal.interfaces.find("{}") == std::string::npos) {
        fail(*names, "expected {} where an element's name goes, found " + describe(*names));
      }
    }
    if (const YamlNode* const beat = node.find("heartbeat")) signal.heartbeat = read_text(*beat);
    if (const YamlNode* const elements = node.find("elements")) {
      signal.elements = read_names(*elements);
    } else if (is_of_joints(signal.kind)) {
      signal.elements = joints;
    } else if (signal.quaternion) {
      signal.elements = quaternion_elements(*signal.quaternion);
    }
    if (signal.elements.empty()) {
      fail(key, "the signal has no elements; give 'elements', a name for each number");
    }
    return signal;
  }

  QuaternionOrder read_quaternion(const YamlNode& node) const {
    const std::string order = read_text(node);
    if (order == "wxyz") return QuaternionOrder::kWxyz;
    if (order == "xyzw") return QuaternionOrder::kXyzw;
    fail(node, "expected wxyz or xyzw, found " + describe(node));
  }

  const std::string& file_;
};

void check_names(const std::vector<std::string>& names, const std::string& what) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    require(!name.empty(), Code::kRobotFile, what + ": a name must not be empty");
    require(seen.insert(name).second, Code::kRobotFile,
            what + ": " + quote_for_message(name) + " stands there twice");
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
            what + " has a quaternion and fewer than four elements");
    std::vector<std::string> elements = signal.elements;
    require(name_quaternion(elements, signal.quaternion), Code::kRobotFile,
            what +
                ": its quaternion and the names of its last four elements contradict each other. "
                "The policy would read a wrong attitude; correct one of them.");
    require(signal.heartbeat.empty() || side == "sensor", Code::kRobotFile,
            what + " has a heartbeat; only sensors have one");
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
