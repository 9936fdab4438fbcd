#include "import/act.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "import/meaning.h"

namespace leapp::importing {
namespace {

// The elements of the action for each joint that they drive.
std::vector<std::int64_t> by_joint(const std::vector<Drive>& drives) {
  std::vector<std::int64_t> order(drives.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return drives[static_cast<std::size_t>(a)].joint < drives[static_cast<std::size_t>(b)].joint;
  });
  return order;
}

class Actor {
 public:
  Actor(const Deployment& deployment, const onnx::Model& like)
      : deployment_(deployment), order_(by_joint(deployment.drives)), writer_("act", like) {}

  Part build(const Port& action) {
    const auto count = static_cast<std::int64_t>(deployment_.drives.size());
    std::string value =
        writer_.reshape(writer_.input(plain_port(kAction, action.shape)), {1, count});
    if (clips_action(deployment_)) {
      std::vector<std::int64_t> all(deployment_.drives.size());
      std::iota(all.begin(), all.end(), 0);
      value = clipped(value, all, &Drive::action_lower, &Drive::action_upper);
      writer_.output(plain_port(kClippedAction, action.shape),
                     writer_.reshape(value, action.shape));
    }
    targets(value, false, "joint_pos_target", "target/joint/position", "rad");
    targets(value, true, "joint_vel_target", "target/joint/velocity", "rad/s");
    gains("kp", deployment_.stiffness);
    gains("kd", deployment_.damping);
    return std::move(writer_).take();
  }

 private:
  const Drive& drive(std::int64_t element) const {
    return deployment_.drives[static_cast<std::size_t>(element)];
  }

  std::string numbers(const std::vector<std::int64_t>& elements, double Drive::*field) {
    std::vector<double> values;
    for (const std::int64_t element : elements) values.push_back(drive(element).*field);
    return writer_.floats(values, {1, static_cast<std::int64_t>(values.size())});
  }

  std::string clipped(std::string value, const std::vector<std::int64_t>& elements,
                      double Drive::*lower, double Drive::*upper) {
    const auto bounded = [&](double Drive::*field) {
      return std::any_of(elements.begin(), elements.end(), [&](std::int64_t element) {
        return std::isfinite(drive(element).*field);
      });
    };
    if (bounded(upper)) value = writer_.op("Min", {value, numbers(elements, upper)});
    if (bounded(lower)) value = writer_.op("Max", {value, numbers(elements, lower)});
    return value;
  }

  void targets(const std::string& action, bool velocity, const char* name, const char* kind,
               const char* unit) {
    std::vector<std::int64_t> elements;
    std::vector<std::string> joints;
    for (const std::int64_t element : order_) {
      if (drive(element).velocity != velocity) continue;
      elements.push_back(element);
      joints.push_back(joint_name(element));
    }
    if (elements.empty()) return;
    std::string value =
        writer_.gather(action, elements, 1, static_cast<std::int64_t>(deployment_.drives.size()));
    value = writer_.op("Mul", {value, numbers(elements, &Drive::scale)});
    value = writer_.op("Add", {value, numbers(elements, &Drive::offset)});
    value = clipped(value, elements, &Drive::lower, &Drive::upper);
    writer_.output(vector_port(name, kind, joints, unit), value);
  }

  void gains(const char* name, const std::vector<double>& by_joint) {
    if (by_joint.empty()) return;
    std::vector<double> values;
    std::vector<std::string> joints;
    for (const std::int64_t element : order_) {
      values.push_back(by_joint[static_cast<std::size_t>(drive(element).joint)]);
      joints.push_back(joint_name(element));
    }
    writer_.output(vector_port(name, name, joints),
                   writer_.floats(values, {1, static_cast<std::int64_t>(values.size())}));
  }

  const std::string& joint_name(std::int64_t element) const {
    return deployment_.joints[static_cast<std::size_t>(drive(element).joint)];
  }

  const Deployment& deployment_;
  std::vector<std::int64_t> order_;
  NodeWriter writer_;
};

}  // namespace

bool clips_action(const Deployment& deployment) {
  return std::any_of(deployment.drives.begin(), deployment.drives.end(), [](const Drive& drive) {
    return std::isfinite(drive.action_lower) || std::isfinite(drive.action_upper);
  });
}

Part make_act(const Deployment& deployment, const Port& action, const onnx::Model& like) {
  return Actor(deployment, like).build(action);
}

}  // namespace leapp::importing
