#include "import/policy_model.h"

#include <algorithm>
#include <unordered_set>

#include "base/check.h"
#include "base/find.h"
#include "base/utf8.h"
#include "onnx/reader.h"

namespace leapp::importing {
namespace {

/// The oldest opset for the nodes around a policy.
constexpr std::int64_t kOldestOpset = 13;
/// A limit above the number of elements of any policy's port.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 28;

Port port_of(const onnx::ValueInfo& info, const std::string& file) {
  const std::string what = file + ": the port " + quote_for_message(info.name);
  const std::optional<DType> dtype = onnx::dtype_of(info.type);
  require(dtype.has_value(), Code::kPolicyMismatch,
          what + " of the model has an element type that bundles do not support");
  require(info.shape.has_value(), Code::kPolicyMismatch,
          what + " of the model has no shape: export the policy with fixed shapes");
  Port port;
  port.name = info.name;
  port.dtype = *dtype;
  for (const onnx::Dimension& size : *info.shape) {
    const auto* number = std::get_if<std::int64_t>(&size);
    port.shape.push_back(number != nullptr ? *number : 1);
  }
  const std::optional<std::int64_t> count = checked_element_count(port.shape);
  require(count && *count <= kMaxElements, Code::kPolicyMismatch,
          what + " of the model has the shape " + to_string(port.shape) + ", which is too large");
  return port;
}

std::string names_of(const std::vector<Port>& ports) {
  std::string names;
  for (const Port& port : ports) names += (names.empty() ? "" : ", ") + port.name;
  return names;
}

// Loops and branches also read values from the surrounding graph.
void add_used(const onnx::Graph& graph, std::unordered_set<std::string>& used);

void add_used(const onnx::Node& node, std::unordered_set<std::string>& used) {
  used.insert(node.inputs.begin(), node.inputs.end());
  for (const onnx::Attribute& attribute : node.attributes) {
    const auto* body = std::get_if<std::shared_ptr<const onnx::Graph>>(&attribute.value);
    if (body != nullptr) add_used(**body, used);
  }
}

void add_used(const onnx::Graph& graph, std::unordered_set<std::string>& used) {
  for (const onnx::Node& node : graph.nodes) add_used(node, used);
  for (const onnx::ValueInfo& output : graph.outputs) used.insert(output.name);
}

template <typename T>
std::vector<T> kept(const std::vector<T>& all, const std::unordered_set<std::string>& names) {
  std::vector<T> chosen;
  for (const T& one : all) {
    if (names.contains(one.name)) chosen.push_back(one);
  }
  return chosen;
}

}  // namespace

const Port* PolicyModel::find_input(const std::string& name) const {
  return find_in(inputs, name, &Port::name);
}

const Port* PolicyModel::find_output(const std::string& name) const {
  return find_in(outputs, name, &Port::name);
}

std::vector<RecurrentPort> PolicyModel::recurrent() const {
  std::vector<RecurrentPort> ports;
  for (const Port& input : inputs) {
    const std::size_t stem = input.name.size() < 3 ? 0 : input.name.size() - 3;
    if (!input.name.ends_with("_in") && !input.name.ends_with(".in")) continue;
    const Port* output = find_output(input.name.substr(0, stem + 1) + "out");
    if (output == nullptr || output->shape != input.shape || output->dtype != input.dtype) continue;
    ports.push_back({input.name, output->name});
  }
  return ports;
}

PolicyModel read_policy(const std::filesystem::path& path) {
  PolicyModel policy;
  policy.model = onnx::read_model(path);
  onnx::load_external_data(policy.model, path.parent_path());
  const std::string file = path.string();
  policy.opset = onnx::opset_of(policy.model).value_or(0);
  require(policy.opset >= kOldestOpset, Code::kPolicyMismatch,
          file + ": the model is of opset " + std::to_string(policy.opset) + ", expected " +
              std::to_string(kOldestOpset) +
              " or newer: export the policy again, or convert it with onnx.version_converter");
  for (const onnx::ValueInfo& info : onnx::fed_inputs(policy.model.graph)) {
    policy.inputs.push_back(port_of(info, file));
  }
  for (const onnx::ValueInfo& info : policy.model.graph.outputs) {
    policy.outputs.push_back(port_of(info, file));
  }
  require(!policy.outputs.empty(), Code::kPolicyMismatch, file + ": the model has no outputs");
  return policy;
}

const Port& observation_of(const PolicyModel& policy) {
  for (const char* name : {"obs", "actor_obs"}) {
    if (const Port* port = policy.find_input(name)) return *port;
  }
  std::unordered_set<std::string> others = {"time_step"};
  for (const RecurrentPort& port : policy.recurrent()) others.insert(port.input);
  std::vector<const Port*> found;
  for (const Port& port : policy.inputs) {
    if (!others.contains(port.name)) found.push_back(&port);
  }
  require(found.size() == 1, Code::kPolicyMismatch,
          "the model has no input 'obs' and " + std::to_string(found.size()) +
              " that could be the observation, expected one. Its inputs are: " +
              names_of(policy.inputs));
  return *found[0];
}

const Port& action_of(const PolicyModel& policy) {
  for (const char* name : {"actions", "action"}) {
    if (const Port* port = policy.find_output(name)) return *port;
  }
  return policy.outputs[0];
}

Part part_of(const PolicyModel& policy, const std::string& name,
             const std::vector<std::string>& outputs) {
  std::unordered_set<std::string> used(outputs.begin(), outputs.end());
  Part part;
  part.model = policy.model;
  onnx::Graph& graph = part.model.graph;
  std::vector<onnx::Node> nodes;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool needed = std::any_of(node->outputs.begin(), node->outputs.end(),
                                    [&](const std::string& value) { return used.contains(value); });
    if (!needed) continue;
    add_used(*node, used);
    nodes.push_back(std::move(*node));
  }
  std::reverse(nodes.begin(), nodes.end());
  graph.nodes = std::move(nodes);
  graph.initializers = kept(graph.initializers, used);
  graph.inputs = kept(graph.inputs, used);
  graph.value_infos = kept(graph.value_infos, used);
  graph.outputs = kept(graph.outputs, {outputs.begin(), outputs.end()});
  part.node.name = name;
  part.node.inputs = kept(policy.inputs, used);
  part.node.outputs = kept(policy.outputs, {outputs.begin(), outputs.end()});
  return part;
}

}  // namespace leapp::importing
