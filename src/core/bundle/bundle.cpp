#include "leapp/bundle.h"

#include "base/find.h"
#include "base/join.h"

namespace leapp {

const Port* Model::find_input(std::string_view port) const noexcept {
  return find_in(inputs, port, &Port::name);
}

const Port* Model::find_output(std::string_view port) const noexcept {
  return find_in(outputs, port, &Port::name);
}

const Model* Bundle::find_model(std::string_view node) const noexcept {
  return find_in(models, node, &Model::name);
}

const Port* Bundle::find_input(const PortRef& ref) const noexcept {
  const Model* const model = find_model(ref.node);
  return model ? model->find_input(ref.port) : nullptr;
}

const Port* Bundle::find_output(const PortRef& ref) const noexcept {
  const Model* const model = find_model(ref.node);
  return model ? model->find_output(ref.port) : nullptr;
}

std::string to_string(const PortRef& ref) {
  return ref.node + "/" + ref.port;
}

std::string to_string(const NodeSchedule& schedule) {
  std::vector<std::string> parts;
  if (schedule.every != 1) parts.push_back("every " + std::to_string(schedule.every) + " ticks");
  if (schedule.phase != 0) parts.push_back("from tick " + std::to_string(schedule.phase) + " on");
  if (schedule.when) parts.push_back("when " + to_string(*schedule.when));
  if (!schedule.on_change.empty()) {
    parts.push_back("if " + join(schedule.on_change) + " changed");
  }
  if (parts.empty()) parts.emplace_back("every tick");
  if (schedule.repeat != 1) parts.push_back(std::to_string(schedule.repeat) + " runs");
  for (const auto& [output, input] : schedule.carry) parts.push_back(output + " to " + input);
  if (!schedule.index.empty()) parts.push_back(schedule.index + " counts the runs");
  for (const auto& [input, node] : schedule.ages) parts.push_back(input + " is the age of " + node);
  return join(parts);
}

std::optional<PortRef> parse_port_ref(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) {
    return std::nullopt;
  }
  return PortRef{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

}  // namespace leapp
