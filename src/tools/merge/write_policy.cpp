#include <cstdint>
#include <string>

#include "base/check.h"
#include "bundle/yaml_scalar.h"
#include "import/node_writer.h"
#include "leapp/tools/merge.h"
#include "merge/policy_file.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "runtime/merge_graphs.h"

namespace leapp {
namespace {

constexpr const char* kSplit = "observe_policy_file";
constexpr const char* kJoin = "act_policy_file";

std::string listed(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
  return text;
}

std::string listed(const std::vector<double>& values) {
  std::vector<std::string> texts;
  for (const double value : values) texts.push_back(write_number(value));
  return listed(texts);
}

onnx::Properties metadata_of(const PolicyFile& policy, const std::string& name) {
  std::vector<std::string> terms;
  std::vector<std::string> commands;
  for (const PolicyTerm& term : policy.terms) {
    terms.push_back(term.name);
    if (term.command) commands.push_back(term.name);
  }
  const auto each = [&](const char* value) {
    return listed(std::vector<std::string>(terms.size(), value));
  };
  return {{"run_path", name},
          {"joint_names", listed(policy.joints)},
          {"joint_stiffness", listed(policy.stiffness)},
          {"joint_damping", listed(policy.damping)},
          {"default_joint_pos", listed(policy.default_position)},
          {"command_names", listed(commands)},
          {"observation_names", listed(terms)},
          {"observation_terms_scale", each("1.0")},
          {"observation_terms_clip", each("-inf;inf")},
          {"observation_terms_history_length", each("0")},
          {"observation_terms_flatten_history_dim", each("1")},
          {"observation_history_lengths", each("1")},
          {"action_scale", listed(policy.scale)}};
}

Port float_port(const std::string& name, const Shape& shape) {
  Port port;
  port.name = name;
  port.shape = shape;
  return port;
}

// Splits one observation into the inputs of the bundle.
importing::Part split_observation(const PolicyFile& policy, const onnx::Model& like) {
  std::int64_t whole = 0;
  for (const PolicyTerm& term : policy.terms) {
    whole += checked_element_count(term.port->shape).value_or(0);
  }
  importing::NodeWriter writer(kSplit, like);
  const std::string obs = writer.input(float_port("obs", {1, whole}));
  const auto joints = static_cast<std::int64_t>(policy.joints.size());
  std::int64_t first = 0;
  for (const PolicyTerm& term : policy.terms) {
    const std::int64_t last = first + checked_element_count(term.port->shape).value_or(0);
    std::string value =
        writer.op("Slice", {obs, writer.ints({first}), writer.ints({last}), writer.ints({1})});
    if (term.offset_from_base) {
      value = writer.op("Add", {value, writer.floats(policy.default_position, {1, joints})});
    }
    writer.output(float_port(term.port->name, term.port->shape),
                  writer.reshape(value, term.port->shape));
    first = last;
  }
  return std::move(writer).take();
}

// The feedback is the action or, without an action, the distance of the target from the default
// pose.
importing::Part join_action(const PolicyFile& policy, const onnx::Model& like) {
  const Port& source = policy.action != nullptr ? *policy.action : *policy.target;
  const auto joints = static_cast<std::int64_t>(policy.joints.size());
  importing::NodeWriter writer(kJoin, like);
  std::string value = writer.reshape(writer.input(float_port("source", source.shape)), {1, joints});
  if (policy.action == nullptr) {
    value = writer.op("Sub", {value, writer.floats(policy.default_position, {1, joints})});
  }
  writer.output(float_port("actions", {1, joints}), value);
  return std::move(writer).take();
}

}  // namespace

void write_policy(const std::filesystem::path& yaml, const std::filesystem::path& file,
                  const RuntimeOptions& options) {
  const Bundle bundle = read_bundle(yaml, options.bundle);
  PolicyFile policy = describe_policy(bundle);
  InferenceManager manager(yaml, options);
  measure_policy(policy, bundle, manager);
  const Model& node = bundle.models[0];
  const onnx::Model model =
      onnx::read_model(resolve_file(bundle.file.parent_path(), node.file->path, options.bundle));
  const importing::Part split = split_observation(policy, model);
  const importing::Part join = join_action(policy, model);
  Bundle whole;
  whole.models = {split.node, node, join.node};
  for (const Port& port : split.node.outputs) {
    whole.pipeline.data_flow.push_back({{kSplit, port.name}, {{node.name, port.name}}});
  }
  const Port& source = policy.action != nullptr ? *policy.action : *policy.target;
  whole.pipeline.data_flow.push_back({{node.name, source.name}, {{kJoin, "source"}}});
  Model signature;
  signature.name = node.name;
  signature.inputs = {split.node.inputs[0]};
  signature.outputs = {join.node.outputs[0]};
  signature.inputs[0].name = std::string(kSplit) + "/obs";
  signature.outputs[0].name = std::string(kJoin) + "/actions";
  onnx::Model merged = merge_graphs(
      whole, {{&split.node, &split.model}, {&node, &model}, {&join.node, &join.model}}, signature);
  rename_values(merged.graph, {{signature.inputs[0].name, "obs"},
                               {signature.outputs[0].name, "actions"},
                               {"obs", "%inner obs"},  // if a model uses these names internally
                               {"actions", "%inner actions"}});
  merged.metadata = metadata_of(policy, node.name);
  onnx::write_model(merged, file);
}

}  // namespace leapp
