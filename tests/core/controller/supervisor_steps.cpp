// Runs the pure tick of a supervisor on sequences from standard input, one JSON object a line, and
// prints what each tick did. tests/python/test_supervisor_rules.py compares it with a second
// implementation.
#include <deque>

#include "controller/supervise.h"
#include "steps_json.h"

namespace leapp {
namespace {

using namespace testing;
using Kind = PolicyResult::Kind;

/// A bundle and its memory, and a worker that answers after some ticks.
struct Policy {
  Policy(const std::string& text, const Robot& robot)
      : bundle(parse_bundle(text, "bundle")), binding(bind(bundle, robot)) {
    require_bound(binding, bundle, robot);
    for (const PortBinding& port : binding.inputs) {
      inputs.emplace_back(*bundle.find_input(*parse_port_ref(port.port)));
    }
    for (const PortBinding& port : binding.outputs) {
      outputs.emplace_back(*bundle.find_output(*parse_port_ref(port.port)));
    }
    for (PortMemory& input : inputs) input_memory.push_back(input.data());
    for (PortMemory& output : outputs) output_memory.push_back(output.data());
  }

  PolicyResult answer(const Json& json) {
    const std::size_t first = json["outputs"].size();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      outputs[i].store(i < first ? json["outputs"][i] : json["ports"][i - first]);
    }
    return {result_kind(json["kind"]), false, output_memory};
  }

  Bundle bundle;
  RobotBinding binding;
  std::vector<PortMemory> inputs, outputs;
  std::vector<void*> input_memory;
  std::vector<const void*> output_memory;
  int remaining = 0;   // ticks until the worker answers
  bool asked = false;  // the answer was not taken yet
  Json pending;
};

class Sequence {
 public:
  explicit Sequence(const Json& json)
      : supervision_(parse_supervision(json["supervision"].get<std::string>(), "supervision")),
        robot_(parse_robot(json["robot"].get<std::string>(), "robot")) {
    std::vector<PolicyOnRobot> on_robot;
    for (const Json& text : json["bundles"]) {
      const Policy& policy = policies_.emplace_back(text.get<std::string>(), robot_);
      on_robot.push_back({policy.bundle, policy.binding});
    }
    plan_ = make_supervisor_plan(supervision_, robot_, on_robot, to_options(json["options"]));
    state_.emplace(plan_);
    sensors_ = make_sensors(plan_.policies[0]);
    actuators_ = make_actuators(plan_.policies[0]);
  }

  Json tick(const Json& json) {
    set_sensors(sensors_, json["sensors"]);
    advance_workers();
    if (supervise(plan_, *state_, inputs_of(json), to_time(json["clock"]))) {
      policies_[state_->active].asked = false;
    }
    return run_active(json);
  }

 private:
  void advance_workers() {
    busy_.clear();
    for (Policy& policy : policies_) {
      if (policy.remaining > 0) --policy.remaining;
      busy_.push_back(policy.remaining > 0 ? 1 : 0);
    }
  }

  SupervisorInputs inputs_of(const Json& json) {
    flags_.clear();
    for (const Json& flag : json["flags"]) flags_.push_back(flag.get<bool>() ? 1 : 0);
    SupervisorInputs inputs{sensors_, flags_, busy_};
    if (!json["request"].is_null()) inputs.request = json["request"].get<std::size_t>();
    inputs.stop = json["stop"];
    inputs.clear = json["clear"];
    return inputs;
  }

  Json run_active(const Json& json) {
    const std::size_t active = state_->active;
    const TickPlan& plan = plan_.policies[active];
    TickState& tick = state_->policies[active];
    Policy& policy = policies_[active];
    const Json& given = json["results"][active];
    PolicyResult result;
    if (policy.asked) {
      if (busy_[active] != 0) result.kind = Kind::kBusy;
      if (busy_[active] == 0) result = policy.answer(policy.pending);
      policy.asked = busy_[active] != 0;
    }
    const bool asked = gather(plan, tick, sensors_, to_time(json["clock"]),
                              result.kind == Kind::kBusy, policy.input_memory);
    for (SensorValues& sensor : sensors_) sensor.fresh = false;
    if (asked && !plan.worker) {
      result = policy.answer(given);
      result.late = given["late"];
    }
    const StepOutcome outcome = step(plan, tick, sensors_, result, actuators_);
    if (result.kind == Kind::kGood && !outcome.discard) {
      note_result(plan_, *state_, result.outputs);
    }
    if (outcome.request) {
      policy.remaining = given["takes"];
      policy.pending = given;
      policy.asked = true;
    }
    return report(asked, outcome);
  }

  Json report(bool asked, const StepOutcome& outcome) const {
    Json inputs;
    if (asked) {
      for (const PortMemory& input : policies_[state_->active].inputs) {
        inputs.push_back(input.load());
      }
    }
    Json events = Json::array();
    for (const SwitchRecord& one : state_->log.last()) {
      events.push_back(
          {one.tick, name_of(one.event), one.policy, one.rule ? Json(*one.rule) : Json()});
    }
    return {{"inputs", inputs},
            {"state", static_cast<int>(outcome.state)},
            {"discard", outcome.discard},
            {"actuators", actuators_},
            {"counts", state_->policies[state_->active].log.counts()},
            {"active", state_->active},
            {"emergency", state_->emergency},
            {"events", events}};
  }

  Supervision supervision_;
  Robot robot_;
  std::deque<Policy> policies_;  // their memory keeps its address
  SupervisorPlan plan_;
  std::optional<SupervisorState> state_;
  std::vector<SensorValues> sensors_;
  std::vector<std::vector<double>> actuators_;
  std::vector<std::uint8_t> busy_, flags_;
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
