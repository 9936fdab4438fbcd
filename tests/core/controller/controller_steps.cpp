// Runs the pure tick of the controller on sequences from standard input, one JSON object a line,
// and prints what each tick did. tests/python/test_controller_rules.py compares it with a second
// implementation.
#include "steps_json.h"

namespace leapp {
namespace {

using namespace testing;
using Kind = PolicyResult::Kind;

class Sequence {
 public:
  explicit Sequence(const Json& json)
      : bundle_(parse_bundle(json["bundle"].get<std::string>(), "bundle")),
        robot_(parse_robot(json["robot"].get<std::string>(), "robot")),
        binding_(bind_all()),
        plan_(make_tick_plan(bundle_, robot_, binding_, to_options(json["options"]))),
        state_(plan_),
        sensors_(make_sensors(plan_)),
        actuators_(make_actuators(plan_)) {
    for (const PortBinding& port : binding_.inputs) {
      inputs_.emplace_back(*bundle_.find_input(*parse_port_ref(port.port)));
    }
    for (const PortBinding& port : binding_.outputs) {
      outputs_.emplace_back(*bundle_.find_output(*parse_port_ref(port.port)));
    }
    for (PortMemory& input : inputs_) input_memory_.push_back(input.data());
    for (PortMemory& output : outputs_) output_memory_.push_back(output.data());
  }

  Json tick(const Json& json) {
    if (json["restart"]) {
      state_.restart();
      remaining_ = 0;
    }
    set_sensors(sensors_, json["sensors"]);
    PolicyResult result = look_at_worker();
    const bool asked = gather(plan_, state_, sensors_, to_time(json["clock"]),
                              result.kind == Kind::kBusy, input_memory_);
    for (SensorValues& sensor : sensors_) sensor.fresh = false;
    if (asked && !plan_.worker) {
      result = answer(json["result"]);
      result.late = json["result"]["late"];
    }
    const StepOutcome outcome = step(plan_, state_, sensors_, result, actuators_);
    if (outcome.request) {
      remaining_ = json["takes"];
      pending_ = json["result"];
    }
    return report(asked, outcome);
  }

 private:
  RobotBinding bind_all() const {
    RobotBinding binding = bind(bundle_, robot_);
    require_bound(binding, bundle_, robot_);
    return binding;
  }

  PolicyResult look_at_worker() {
    if (remaining_ == 0) return {};
    if (--remaining_ == 0) return answer(pending_);
    return {Kind::kBusy, false, {}};
  }

  PolicyResult answer(const Json& json) {
    for (std::size_t i = 0; i < outputs_.size(); ++i) outputs_[i].store(json["outputs"][i]);
    return {result_kind(json["kind"]), false, output_memory_};
  }

  Json report(bool asked, const StepOutcome& outcome) const {
    Json inputs;
    if (asked) {
      for (const PortMemory& input : inputs_) inputs.push_back(input.load());
    }
    return {{"inputs", inputs},
            {"state", static_cast<int>(outcome.state)},
            {"discard", outcome.discard},
            {"actuators", actuators_},
            {"counts", state_.log.counts()}};
  }

  Bundle bundle_;
  Robot robot_;
  RobotBinding binding_;
  TickPlan plan_;
  TickState state_;
  std::vector<SensorValues> sensors_;
  std::vector<std::vector<double>> actuators_;
  std::vector<PortMemory> inputs_;
  std::vector<PortMemory> outputs_;
  std::vector<void*> input_memory_;
  std::vector<const void*> output_memory_;
  std::size_t remaining_ = 0;  // ticks until the worker answers
  Json pending_;
};

Json run(const Json& json) {
  Json ticks = Json::array();
  try {
    Sequence sequence(json);
    for (const Json& tick : json["ticks"]) ticks.push_back(sequence.tick(tick));
  } catch (const Error& error) {
    return {{"error", error.what()}};
  }
  return {{"ticks", ticks}};
}

}  // namespace
}  // namespace leapp

int main() {
  leapp::testing::answer_lines(leapp::run);
}
