#include "import/observe.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>

#include "import/meaning.h"
#include "import/rotation.h"

namespace leapp::importing {
namespace {

using Int = std::int64_t;

std::vector<double> values_at(const std::vector<double>& values, const std::vector<Int>& places) {
  std::vector<double> chosen;
  for (const Int place : places) chosen.push_back(values[static_cast<std::size_t>(place)]);
  return chosen;
}

class Observer {
 public:
  Observer(const Deployment& deployment, const Port& action, const onnx::Model& like)
      : deployment_(deployment), action_(action), writer_("observe", like) {}

  ObserveNode build(const Port& observation) {
    std::vector<std::string> frames;
    for (const Term& term : deployment_.terms) frames.push_back(history(term, processed(term)));
    std::vector<std::string> flat;
    if (deployment_.time_major) {
      flat.push_back(writer_.concat(frames, 2));  // [1, frames, elements of all terms]
    } else {
      for (std::size_t i = 0; i < frames.size(); ++i) {
        const Term& term = deployment_.terms[i];
        flat.push_back(
            writer_.reshape(frames[i], {1, term.size * static_cast<Int>(term.ages.size())}));
      }
    }
    const std::string whole = writer_.reshape(writer_.concat(flat, 1), observation.shape);
    writer_.output(plain_port(kObservation, observation.shape), whole);
    finish_states();
    return {std::move(writer_).take(), std::move(states_)};
  }

 private:
  // The values of the term as [1, size], before any processing.
  std::string raw(const Term& term) {
    switch (term.source) {
      case Source::kGiven:
        return writer_.input(given_port(term));
      case Source::kJointPosition:
        return writer_.op(
            "Sub",
            {writer_.gather(joint_input("joint_pos", "position", "rad"), term.joints, 1,
                            joint_count()),
             writer_.floats(values_at(deployment_.default_position, term.joints), {1, term.size})});
      case Source::kJointVelocity:
        return writer_.gather(joint_input("joint_vel", "velocity", "rad/s"), term.joints, 1,
                              joint_count());
      case Source::kLastAction:
        return writer_.reshape(shared(plain_port(kLastAction, action_.shape)), {1, term.size});
      case Source::kReference:
        return writer_.concat({reference(kReferencePosition, {1, joint_count()}),
                               reference(kReferenceVelocity, {1, joint_count()})},
                              1);
      case Source::kAnchorPosition:
        return anchor_position();
      case Source::kAnchorRotation:
        return anchor_rotation();
      case Source::kPhase:
        return phase(term);
    }
    return {};
  }

  Int joint_count() const { return static_cast<Int>(deployment_.joints.size()); }

  // An input that several terms may share.
  std::string shared(const Port& port) {
    const auto [entry, added] = inputs_.try_emplace(port.name);
    if (added) entry->second = writer_.input(port);
    return entry->second;
  }

  std::string joint_input(const char* name, const char* what, const char* unit) {
    return shared(vector_port(name, std::string("state/joint/") + what, deployment_.joints, unit));
  }

  std::string reference(const char* name, const Shape& shape) {
    return shared(plain_port(name, shape));
  }

  std::string anchor(const char* name, Int size) {
    const Motion& motion = *deployment_.motion;
    const Int bodies = static_cast<Int>(motion.bodies.size());
    const std::string all = reference(name, {1, bodies, size});
    return writer_.reshape(writer_.gather(all, {motion.anchor}, 1, bodies), {1, size});
  }

  std::string robot_rotation() {
    const Port port = quaternion_port("anchor_quat", "world");
    const bool known = inputs_.contains(port.name);
    const std::string quaternion = shared(port);
    if (!known) robot_rotation_ = rotation_of(writer_, quaternion);
    return robot_rotation_;
  }

  // Row vectors: v in the robot's frame is v R, where R rotates from the robot's frame to the
  // world's.
  std::string anchor_position() {
    const std::string robot =
        shared(vector_port("anchor_pos", "state/body/position", {"x", "y", "z"}, "m", "world"));
    const std::string away = writer_.op("Sub", {anchor(kReferenceBodies, 3), robot});
    return writer_.op("MatMul", {away, robot_rotation()});
  }

  std::string anchor_rotation() {
    const std::string motion = rotation_of(writer_, anchor(kReferenceRotations, 4));
    const std::string inverse = writer_.op("Transpose", {robot_rotation()});
    const std::string relative = writer_.op("MatMul", {inverse, motion});
    return writer_.reshape(writer_.gather(relative, {0, 1}, 1, 3), {1, 6});
  }

  std::string phase(const Term& term) {
    const std::string name = term.name + "_clock";
    const std::string ticks = writer_.input(plain_port(name, {1, 1}));
    const auto number = [&](double value) { return writer_.floats({value}, {1, 1}); };
    Tensor initial(DType::kFloat32, {1, 1});
    initial.values<float>()[0] = static_cast<float>(term.first_tick);
    add_state(name, writer_.op("Add", {ticks, number(1)}), std::move(initial));
    const std::string period = number(term.period);
    const std::string within = writer_.op("Mod", {ticks, period}, {attribute("fmod", 1)});
    const std::string angle =
        writer_.op("Mul", {within, number(2 * std::numbers::pi / term.period)});
    return writer_.concat({writer_.op("Sin", {angle}), writer_.op("Cos", {angle})}, 1);
  }

  std::string processed(const Term& term) {
    std::string value = raw(term);
    if (term.scale_first) value = scaled(term, value);
    if (std::isfinite(term.upper)) value = writer_.op("Min", {value, number(term.upper)});
    if (std::isfinite(term.lower)) value = writer_.op("Max", {value, number(term.lower)});
    return term.scale_first ? value : scaled(term, value);
  }

  std::string number(double value) { return writer_.floats({value}, {1}); }

  std::string scaled(const Term& term, const std::string& value) {
    const auto is_one = [](double factor) { return factor == 1; };
    if (std::all_of(term.scale.begin(), term.scale.end(), is_one)) return value;
    return writer_.op(
        "Mul", {value, writer_.floats(term.scale, {1, static_cast<Int>(term.scale.size())})});
  }

  // [1, frames, size]: the part of the observation for the term.
  std::string history(const Term& term, const std::string& value) {
    const std::string frame = writer_.reshape(value, {1, 1, term.size});
    const Int length = *std::max_element(term.ages.begin(), term.ages.end()) + 1;
    if (length == 1) return frame;
    const std::string name = term.name + "_history";
    const Shape shape = {1, length, term.size};
    const std::string before = writer_.input(plain_port(name, shape));
    const std::string kept =
        writer_.op("Slice", {before, writer_.ints({1}), writer_.ints({length}), writer_.ints({1})});
    std::string now = writer_.concat({kept, frame}, 1);
    if (deployment_.fill == Fill::kFirstFrame) {
      const std::string repeated = writer_.op("Expand", {frame, writer_.ints(shape)});
      now = writer_.op("Where", {has_started(), now, repeated});
    }
    add_state(name, now, Tensor(DType::kFloat32, shape));
    std::vector<Int> places;  // the oldest frame has index 0
    for (const Int age : term.ages) places.push_back(length - 1 - age);
    return writer_.gather(now, places, 1, length);
  }

  std::string has_started() {
    if (started_.empty()) {
      const std::string before = writer_.input(plain_port("started", {1}));
      started_ = writer_.op("Greater", {before, number(0)});
      add_state("started", number(1), Tensor(DType::kFloat32, {1}));
    }
    return started_;
  }

  void add_state(const std::string& name, const std::string& next, Tensor initial) {
    states_.push_back({name, name + "_next", std::move(initial)});
    next_.push_back(next);
  }

  void finish_states() {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      writer_.output(plain_port(states_[i].output, states_[i].initial.shape()), next_[i]);
    }
  }

  const Deployment& deployment_;
  const Port& action_;
  NodeWriter writer_;
  std::unordered_map<std::string, std::string> inputs_;
  std::string robot_rotation_;
  std::string started_;
  std::vector<StatePort> states_;
  std::vector<std::string> next_;
};

}  // namespace

ObserveNode make_observe(const Deployment& deployment, const Port& observation, const Port& action,
                         const onnx::Model& like) {
  return Observer(deployment, action, like).build(observation);
}

}  // namespace leapp::importing
