#include "runtime/port_names.h"

#include <algorithm>

#include "base/check.h"
#include "base/join.h"
#include "base/port_suffix.h"

namespace leapp {
namespace {

std::vector<std::string> names_of(const std::vector<Port>& ports) {
  std::vector<std::string> names;
  for (const Port& port : ports) names.push_back(port.name);
  return names;
}

constexpr std::size_t kInternal = static_cast<std::size_t>(-1);

// Every port by its own name, including those that are not external, because own names take
// precedence over annotated names.
std::unordered_map<std::string, std::size_t> index_of(const std::vector<std::string>& external,
                                                      const Plan::PortTable& all) {
  std::unordered_map<std::string, std::size_t> index;
  for (const auto& [name, access] : all) index.emplace(name, kInternal);
  for (std::size_t i = 0; i < external.size(); ++i) index[external[i]] = i;
  return index;
}

std::optional<std::size_t> find_external(const std::unordered_map<std::string, std::size_t>& index,
                                         std::string_view name, std::string_view suffix) {
  const std::size_t* found = find_as_annotated(name, suffix, [&](const std::string& key) {
    const auto entry = index.find(key);
    return entry != index.end() ? &entry->second : nullptr;
  });
  return found != nullptr && *found != kInternal ? std::optional(*found) : std::nullopt;
}

const Port* find_input_of(const Model& model, std::string_view name) {
  return find_as_annotated(name, kInputSuffix,
                           [&](const std::string& key) { return model.find_input(key); });
}

}  // namespace

PortNames::PortNames(const Bundle& bundle, const Plan& plan)
    : bundle_(bundle),
      plan_(plan),
      inputs_(index_of(plan.external_inputs, plan.inputs)),
      outputs_(index_of(plan.external_outputs, plan.outputs)) {}

std::optional<std::size_t> PortNames::find_input(std::string_view name) const {
  return find_external(inputs_, name, kInputSuffix);
}

std::size_t PortNames::input(std::string_view name) const {
  if (const auto found = find_input(name)) return *found;
  std::string hint;
  if (find_port(plan_.inputs, name, kInputSuffix) != nullptr) {
    hint = is_feedback(name) ? " (it is fed back: set_input_value() overrides it)"
                             : " (it is computed inside the pipeline)";
  }
  throw Error(Code::kUnknownPort, "'" + std::string(name) + "' is not an input of the pipeline" +
                                      hint + ", which has: " + join(plan_.external_inputs));
}

std::size_t PortNames::output(std::string_view name) const {
  if (const auto found = find_external(outputs_, name, kOutputSuffix)) return *found;
  throw Error(Code::kUnknownPort,
              "'" + std::string(name) +
                  "' is not an output of the pipeline, which has: " + join(plan_.external_outputs));
}

bool PortNames::is_feedback(std::string_view name) const {
  return find_as_annotated(name, kInputSuffix, [&](const std::string& key) {
    const auto& names = plan_.feedback_inputs;
    return std::find(names.begin(), names.end(), key) != names.end();
  });
}

const Model& PortNames::node(std::string_view name) const {
  const Model* model = bundle_.find_model(name);
  require(model != nullptr, Code::kUnknownPort, "there is no node '" + std::string(name) + "'");
  return *model;
}

const Port& PortNames::port(std::string_view node, std::string_view name) const {
  const Model& model = this->node(node);
  if (const Port* port = model.find_input(name)) return *port;
  if (const Port* port = model.find_output(name)) return *port;
  if (const Port* port = find_input_of(model, name)) return *port;
  const Port* output = find_as_annotated(
      name, kOutputSuffix, [&](const std::string& key) { return model.find_output(key); });
  if (output != nullptr) return *output;
  throw Error(Code::kUnknownPort,
              "node '" + std::string(node) + "' has no port '" + std::string(name) + "'; it has: " +
                  join(names_of(model.inputs)) + "; " + join(names_of(model.outputs)));
}

void PortNames::refuse_to_set(std::string_view node, std::string_view input) const {
  const Model& model = this->node(node);
  const bool exists = find_input_of(model, input) != nullptr;
  throw Error(
      Code::kUnknownPort,
      exists ? std::string(node) + "/" + std::string(input) +
                   " is computed by another node in every tick; only external and feedback inputs "
                   "can be set: " +
                   join(plan_.external_inputs) + "; " + join(plan_.feedback_inputs)
             : "node '" + std::string(node) + "' has no input '" + std::string(input) +
                   "'; it has: " + join(names_of(model.inputs)));
}

void check_fit(const std::string& name, const TensorView& buffer, const ConstTensorView& value) {
  if (value.dtype != buffer.dtype) {
    throw Error(Code::kPortType, "input " + name + " is " + std::string(name_of(value.dtype)) +
                                     ", expected " + std::string(name_of(buffer.dtype)));
  }
  if (value.shape != buffer.shape) {
    throw Error(Code::kPortShape, "input " + name + " has shape " + to_string(value.shape) +
                                      ", expected " + to_string(buffer.shape));
  }
  require(value.data != nullptr || value.byte_size() == 0, Code::kWrongValue,
          "input " + name + " has elements, but no memory (a null pointer)");
}

}  // namespace leapp
