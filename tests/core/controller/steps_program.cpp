// Runs the pure tick of the controller on sequences from standard input, one JSON object a line,
// and prints what each tick did. tests/python/test_controller_rules.py runs it beside an
// implementation of its own.
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "controller/step.h"
#include "leapp/bundle.h"
#include "leapp/error.h"

namespace leapp {
namespace {

using Json = nlohmann::json;
using std::chrono::nanoseconds;
using Kind = PolicyResult::Kind;

/// JSON has no NaN and no infinity; those come as text.
double to_number(const Json& json) {
  return json.is_string() ? std::strtod(json.get<std::string>().c_str(), nullptr)
                          : json.get<double>();
}

nanoseconds to_time(const Json& json) {
  return nanoseconds(json.get<std::int64_t>());
}

Kind kind_of(const std::string& name) {
  if (name == "failed") return Kind::kFailed;
  return name == "not_finite" ? Kind::kNotFinite : Kind::kGood;
}

/// The memory of one port, in its own type.
struct PortMemory {
  DType dtype;
  std::vector<double> doubles;
  std::vector<float> floats;

  PortMemory(DType type, std::size_t count) : dtype(type), doubles(count), floats(count) {}
  void* data() {
    return dtype == DType::kFloat32 ? static_cast<void*>(floats.data()) : doubles.data();
  }
  void store(const Json& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      doubles[i] = to_number(values[i]);
      floats[i] = static_cast<float>(doubles[i]);
    }
  }
  Json load() const {
    if (dtype != DType::kFloat32) return doubles;
    Json values = Json::array();
    for (const float value : floats) values.push_back(static_cast<double>(value));
    return values;
  }
};

ControllerOptions to_options(const Json& json) {
  ControllerOptions options;
  if (json["linear"]) options.interpolation = Interpolation::kLinear;
  if (json["worker"]) options.execution = Execution::kWorker;
  if (!json["deadline"].is_null()) options.deadline = to_time(json["deadline"]);
  options.blend_in = to_time(json["blend_in"]);
  return options;
}

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
      const Port& found = *bundle_.find_input(*parse_port_ref(port.port));
      inputs_.emplace_back(found.dtype, static_cast<std::size_t>(element_count(found.shape)));
    }
    for (const PortBinding& port : binding_.outputs) {
      const Port& found = *bundle_.find_output(*parse_port_ref(port.port));
      outputs_.emplace_back(found.dtype, static_cast<std::size_t>(element_count(found.shape)));
    }
    for (PortMemory& input : inputs_) input_memory_.push_back(input.data());
    for (PortMemory& output : outputs_) output_memory_.push_back(output.data());
  }

  Json tick(const Json& json) {
    set_sensors(json["sensors"]);
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

  void set_sensors(const Json& json) {
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      if (json[i].is_null()) continue;
      for (std::size_t e = 0; e < sensors_[i].values.size(); ++e) {
        sensors_[i].values[e] = to_number(json[i]["values"][e]);
      }
      sensors_[i].age = to_time(json[i]["age"]);
      sensors_[i].fresh = true;
    }
  }

  PolicyResult look_at_worker() {
    if (remaining_ == 0) return {};
    if (--remaining_ == 0) return answer(pending_);
    return {Kind::kBusy, false, {}};
  }

  PolicyResult answer(const Json& json) {
    for (std::size_t i = 0; i < outputs_.size(); ++i) outputs_[i].store(json["outputs"][i]);
    return {kind_of(json["kind"]), false, output_memory_};
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
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << leapp::run(nlohmann::json::parse(line)) << std::endl;
  }
}
