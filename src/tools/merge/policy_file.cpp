#include "merge/policy_file.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "bundle/noise_port.h"
#include "leapp/contract.h"
#include "leapp/tolerance.h"

namespace leapp {
namespace {

/// Number of runs of the bundle that measure the meaning of its action.
constexpr std::uint32_t kPolicyRuns = 8;

[[noreturn]] void fail_policy(const std::string& what) {
  throw Error(Code::kNotDescribable, "the bundle cannot be written as a policy file: " + what);
}

// The names along the last dimension, or none.
std::vector<std::string> last_names(const Port& port) {
  if (!port.semantics.element_names || port.semantics.element_names->empty()) return {};
  const auto* names = std::get_if<std::vector<std::string>>(&port.semantics.element_names->back());
  return names != nullptr ? *names : std::vector<std::string>();
}

bool has_kind(const Port& port, const std::string& kind) {
  return port.semantics.kind == kind;
}

// Returns "obs" for "policy.obs": the prefix that merging added is not part of a term's name.
std::string short_name(const Port& port) {
  return port.name.substr(port.name.rfind('.') + 1);
}

// The term names of such controllers, or else the port's own name.
std::string term_name(const Port& port) {
  static const std::map<std::string, std::string> kTerms = {
      {"state/joint/position", "joint_pos"},
      {"state/joint/velocity", "joint_vel"},
      {"state/body/linear_velocity", "base_lin_vel"},
      {"state/body/angular_velocity", "base_ang_vel"},
  };
  const auto found = kTerms.find(port.semantics.kind.value_or(""));
  return found != kTerms.end() ? found->second : short_name(port);
}

// The only output of that kind, which the controller reads.
const Port& only_output(const Model& node, const std::string& kind) {
  const Port* found = nullptr;
  for (const Port& port : node.outputs) {
    if (!has_kind(port, kind)) continue;
    if (found != nullptr) fail_policy("it has two outputs of the kind '" + kind + "'");
    found = &port;
  }
  if (found == nullptr) {
    fail_policy("it has no output of the kind '" + kind +
                "'; export it with TensorSemantics that give each output a kind");
  }
  return *found;
}

// The only state that a controller keeps for a policy is the last action.
const Port* fed_back_action(const Bundle& bundle) {
  const std::vector<Wire>& wires = bundle.pipeline.feedback_flow;
  if (wires.empty()) return nullptr;
  const Port& action = *bundle.find_output(wires[0].source);
  for (const Wire& wire : wires) {
    if (wire.source != wires[0].source || wire.targets.size() != 1) {
      fail_policy("it has state in addition to one last action ('" + wires[0].source.port +
                  "' and '" + wire.source.port + "'), which those controllers do not support");
    }
  }
  return &action;
}

std::vector<double> values_of(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

void check_float(const Port& port) {
  if (port.dtype != DType::kFloat32) {
    fail_policy("'" + port.name + "' is " + std::string(name_of(port.dtype)) +
                ", but an observation must be float32");
  }
}

void check_joints(const Port& port, const std::vector<std::string>& joints) {
  if (last_names(port) == joints) return;
  fail_policy("'" + port.name +
              "' does not have the joints of the targets, named and in the same order");
}

// One run: the action and the target, by element.
struct PolicyRun {
  std::vector<double> action;
  std::vector<double> target;
};

double fitted_scale(const std::vector<PolicyRun>& runs, std::size_t joint, double offset,
                    const std::string& name) {
  const auto by_action = [&](const PolicyRun& a, const PolicyRun& b) {
    return a.action[joint] < b.action[joint];
  };
  const auto [low, high] = std::minmax_element(runs.begin(), runs.end(), by_action);
  const double width = high->action[joint] - low->action[joint];
  if (!(width > 0)) fail_policy("its action for '" + name + "' never changes");
  const double scale = (high->target[joint] - low->target[joint]) / width;
  for (const PolicyRun& run : runs) {
    const double expected = offset + scale * run.action[joint];
    if (is_close(run.target[joint], expected, kFitted)) continue;
    fail_policy(
        "its target for '" + name +
        "' is not default_pose + scale * action, the only formula that those controllers compute");
  }
  return scale;
}

}  // namespace

PolicyFile describe_policy(const Bundle& bundle) {
  if (bundle.models.size() != 1) fail_policy("it has several nodes; merge it first (leapp merge)");
  const Model& node = bundle.models[0];
  PolicyFile policy;
  policy.target = &only_output(node, "target/joint/position");
  policy.joints = last_names(*policy.target);
  if (policy.joints.empty()) fail_policy("'" + policy.target->name + "' does not name its joints");
  policy.action = fed_back_action(bundle);
  const GraphContract contract = contract_of(bundle.pipeline);
  const std::map<std::string, double> pose(contract.default_pose.begin(),
                                           contract.default_pose.end());
  for (const std::string& joint : policy.joints) {
    const auto found = pose.find(joint);
    if (found == pose.end()) {
      fail_policy("pipeline.configs.default_pose does not have '" + joint +
                  "'; export it with GraphConfigs(default_pose=..)");
    }
    policy.default_position.push_back(found->second);
  }
  for (const Port& port : node.inputs) {
    if (is_noise(port)) fail_policy("'" + port.name + "' is a noise port, which no reader fills");
    check_float(port);
    PolicyTerm term{term_name(port), &port};
    for (const Wire& wire : bundle.pipeline.feedback_flow) {
      if (wire.targets[0].port == port.name) term.name = "actions";
    }
    term.offset_from_base = has_kind(port, "state/joint/position");
    if (term.offset_from_base) check_joints(port, policy.joints);
    term.command = port.semantics.kind.value_or("").starts_with("command/");
    for (const PolicyTerm& other : policy.terms) {
      if (other.name == term.name) fail_policy("two of its inputs would be '" + term.name + "'");
    }
    policy.terms.push_back(std::move(term));
  }
  return policy;
}

void measure_policy(PolicyFile& policy, const Bundle& bundle, InferenceManager& manager) {
  const Model& node = bundle.models[0];
  const std::string prefix = node.name + "/";
  const Port& kp = only_output(node, "kp");
  const Port& kd = only_output(node, "kd");
  for (const Port* gains : {&kp, &kd}) check_joints(*gains, policy.joints);
  const std::vector<Wire>& feedback = bundle.pipeline.feedback_flow;
  std::vector<PolicyRun> runs;
  for (std::uint32_t seed = 0; seed < kPolicyRuns; ++seed) {
    manager.reset();
    const TensorMap outputs = manager.run_policy(manager.get_mock_input(seed));
    const auto read = [&](const Port& port) { return values_of(outputs.at(prefix + port.name)); };
    PolicyRun run{{}, read(*policy.target)};
    run.action = run.target;
    if (policy.action != nullptr) {
      run.action = values_of(manager.state().at(to_string(feedback[0].targets[0])));
    }
    if (run.action.size() != policy.joints.size()) {
      fail_policy("its feedback has " + std::to_string(run.action.size()) +
                  " elements, but it drives " + std::to_string(policy.joints.size()) + " joints");
    }
    if (seed > 0 && (read(kp) != policy.stiffness || read(kd) != policy.damping)) {
      fail_policy("its gains change from tick to tick");
    }
    policy.stiffness = read(kp);
    policy.damping = read(kd);
    runs.push_back(std::move(run));
  }
  policy.scale.assign(policy.joints.size(), 1);
  if (policy.action == nullptr) return;
  for (std::size_t i = 0; i < policy.joints.size(); ++i) {
    policy.scale[i] = fitted_scale(runs, i, policy.default_position[i], policy.joints[i]);
  }
}

}  // namespace leapp
