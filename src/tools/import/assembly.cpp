#include "import/assembly.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/check.h"
#include "import/act.h"
#include "import/clock.h"
#include "import/observe.h"
#include "import/terms.h"

namespace leapp::importing {
namespace {

constexpr const char* kPolicy = "policy";
constexpr const char* kMotion = "motion";
constexpr const char* kTime = "time_step";

/// The output of a tracking model that feeds an input of `observe`.
struct ReferenceWire {
  const char* output;
  const char* input;
};
constexpr std::array kReferenceWires = {
    ReferenceWire{"joint_pos", kReferencePosition},
    ReferenceWire{"joint_vel", kReferenceVelocity},
    ReferenceWire{"body_pos_w", kReferenceBodies},
    ReferenceWire{"body_quat_w", kReferenceRotations},
};

bool has_command(const std::vector<Port>& inputs, const std::string& element) {
  return std::any_of(inputs.begin(), inputs.end(), [&](const Port& port) {
    if (!port.semantics.kind || !port.semantics.kind->starts_with("command/")) return false;
    if (!port.semantics.element_names) return false;
    for (const auto& axis : *port.semantics.element_names) {
      const auto* names = std::get_if<std::vector<std::string>>(&axis);
      if (names != nullptr && std::count(names->begin(), names->end(), element) > 0) return true;
    }
    return false;
  });
}

class Assembly {
 public:
  Assembly(const Deployment& deployment, const PolicyModel& policy)
      : deployment_(deployment),
        policy_(policy),
        observation_(observation_of(policy)),
        action_(action_of(policy)) {}

  Draft build() {
    require(observation_.dtype == DType::kFloat32 && action_.dtype == DType::kFloat32,
            Code::kPolicyMismatch,
            "the model's '" + observation_.name + "' and '" + action_.name +
                "' must be float32; export the policy in single precision");
    ObserveNode observe = make_observe(deployment_, observation_, action_, policy_.model);
    const Model node = observe.part.node;
    if (deployment_.motion) add_motion(node);
    draft_.add(std::move(observe.part));
    add_policy();
    draft_.add(make_act(deployment_, action_, policy_.model));
    draft_.wire({node.name, kObservation}, {kPolicy, observation_.name});
    draft_.wire({kPolicy, action_.name}, {"act", kAction});
    close_loops(node, observe.states);
    add_configs(draft_.configs(), deployment_, node.inputs);
    return std::move(draft_);
  }

 private:
  // The model of a tracking policy also contains the motion, which its observation needs, so each
  // becomes a separate node.
  void add_motion(const Model& observe) {
    std::vector<std::string> outputs;
    for (const Port& port : policy_.outputs) {
      if (port.name != action_.name) outputs.push_back(port.name);
    }
    Part motion = part_of(policy_, kMotion, outputs);
    const bool only_time = motion.node.inputs.size() == 1 && motion.node.inputs[0].name == kTime;
    require(only_time, Code::kPolicyMismatch,
            "the model's references depend on more inputs than 'time_step', so they cannot be "
            "computed before its observation. Export the policy with LEAPP instead");
    add_clock(draft_, kMotion, motion.node.inputs[0], policy_.model);
    for (const ReferenceWire& wire : kReferenceWires) {
      const Port* input = observe.find_input(wire.input);
      if (input == nullptr) continue;
      const Port* output = motion.node.find_output(wire.output);
      require(output != nullptr && output->shape == input->shape, Code::kPolicyMismatch,
              "the model's output '" + std::string(wire.output) + "' " +
                  (output == nullptr ? "is missing" : "has the shape " + to_string(output->shape)) +
                  ", expected " + to_string(input->shape) +
                  " from joint_names and body_names. The metadata belong to a different model");
      draft_.wire({kMotion, wire.output}, {observe.name, wire.input});
    }
    draft_.add(std::move(motion));
  }

  void add_policy() {
    if (deployment_.motion) {
      Part policy = part_of(policy_, kPolicy, {action_.name});
      if (policy.node.find_input(kTime) != nullptr) {
        draft_.wire({"clock", "ticks"}, {kPolicy, kTime});
      }
      draft_.add(std::move(policy));
      return;
    }
    Part policy;
    policy.node.name = kPolicy;
    policy.node.inputs = policy_.inputs;
    policy.node.outputs = policy_.outputs;
    policy.model = policy_.model;
    draft_.add(std::move(policy));
    feed_back_recurrent(draft_, policy_, kPolicy);
  }

  void close_loops(const Model& observe, std::vector<StatePort>& states) {
    for (StatePort& state : states) {
      const PortRef source{observe.name, state.output};
      draft_.feed_back(source, {observe.name, state.input}, std::move(state.initial));
      draft_.hide(source);
    }
    if (observe.find_input(kLastAction) == nullptr) return;
    const PortRef source =
        clips_action(deployment_) ? PortRef{"act", kClippedAction} : PortRef{kPolicy, action_.name};
    draft_.feed_back(source, {observe.name, kLastAction}, Tensor(DType::kFloat32, action_.shape));
  }

  const Deployment& deployment_;
  const PolicyModel& policy_;
  const Port& observation_;
  const Port& action_;
  Draft draft_;
};

}  // namespace

void feed_back_recurrent(Draft& draft, const PolicyModel& policy, const std::string& name) {
  for (const RecurrentPort& port : policy.recurrent()) {
    const Port& input = *policy.find_input(port.input);
    draft.feed_back({name, port.output}, {name, port.input}, Tensor(input.dtype, input.shape));
    draft.hide({name, port.output});
  }
}

void add_configs(Metadata::Map& configs, const Deployment& deployment,
                 const std::vector<Port>& inputs) {
  GraphContract contract;
  contract.frequency = deployment.frequency;
  for (std::size_t i = 0; i < deployment.default_position.size(); ++i) {
    contract.default_pose.emplace_back(deployment.joints[i], deployment.default_position[i]);
  }
  for (const CommandRange& range : deployment.command_ranges) {
    if (has_command(inputs, range.element)) contract.command_ranges.push_back(range);
  }
  add_contract(configs, contract);
}

Draft assemble(const Deployment& deployment, const PolicyModel& policy) {
  return Assembly(deployment, policy).build();
}

}  // namespace leapp::importing
