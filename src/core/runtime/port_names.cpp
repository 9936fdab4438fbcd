#include "runtime/port_names.h"

#include <algorithm>

#include "base/check.h"
#include "base/join.h"

namespace leapp {
namespace {

std::vector<std::string> names_of(const std::vector<Port>& ports) {
  std::vector<std::string> names;
  for (const Port& port : ports) names.push_back(port.name);
  return names;
}

// Each external port by its own name and, where it is free, by the name it was annotated with.
std::unordered_map<std::string, std::size_t> index_of(const std::vector<std::string>& names,
                                                      const Plan::PortTable& all,
                                                      std::string_view suffix) {
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < names.size(); ++i) {
    index[names[i]] = i;
    if (std::string annotated = names[i]; annotated.ends_with(suffix)) {
      annotated.resize(annotated.size() - suffix.size());
      if (!all.contains(annotated)) index.emplace(annotated, i);
    }
  }
  return index;
}

}  // namespace

PortNames::PortNames(const Bundle& bundle, const Plan& plan)
    : bundle_(bundle),
      plan_(plan),
      inputs_(index_of(plan.external_inputs, plan.inputs, "_in")),
      outputs_(index_of(plan.external_outputs, plan.outputs, "_out")) {}

std::optional<std::size_t> PortNames::find_input(std::string_view name) const {
  const auto found = inputs_.find(std::string(name));
  return found != inputs_.end() ? std::optional(found->second) : std::nullopt;
}

std::size_t PortNames::input(std::string_view name) const {
  if (const auto found = find_input(name)) return *found;
  std::string hint;
  if (find_port(plan_.inputs, name, "_in") != nullptr) {
    hint = is_feedback(name) ? " (it is fed back: set_input_value() overrides it)"
                             : " (it is computed inside the pipeline)";
  }
  throw Error(Code::kUnknownPort, "'" + std::string(name) + "' is not an input of the pipeline" +
                                      hint + ", which has: " + join(plan_.external_inputs));
}

std::size_t PortNames::output(std::string_view name) const {
  const auto found = outputs_.find(std::string(name));
  if (found != outputs_.end()) return found->second;
  throw Error(Code::kUnknownPort,
              "'" + std::string(name) +
                  "' is not an output of the pipeline, which has: " + join(plan_.external_outputs));
}

bool PortNames::is_feedback(std::string_view name) const {
  return std::any_of(plan_.feedback_inputs.begin(), plan_.feedback_inputs.end(),
                     [renamed = std::string(name) + "_in", name](const std::string& each) {
                       return each == name || each == renamed;
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
  if (const Port* port = model.find_input(std::string(name) + "_in")) return *port;
  if (const Port* port = model.find_output(std::string(name) + "_out")) return *port;
  throw Error(Code::kUnknownPort,
              "node '" + std::string(node) + "' has no port '" + std::string(name) + "'; it has: " +
                  join(names_of(model.inputs)) + "; " + join(names_of(model.outputs)));
}

void PortNames::refuse_to_set(std::string_view node, std::string_view input) const {
  const Model& model = this->node(node);
  const bool exists =
      model.find_input(input) != nullptr || model.find_input(std::string(input) + "_in") != nullptr;
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
