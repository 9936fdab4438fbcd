#include "leapp/bundle.h"

#include <algorithm>

namespace leapp {
namespace {

const Port* find_port(const std::vector<Port>& ports, std::string_view name) noexcept {
  const auto found =
      std::find_if(ports.begin(), ports.end(), [&](const Port& port) { return port.name == name; });
  return found == ports.end() ? nullptr : &*found;
}

}  // namespace

const Port* Model::find_input(std::string_view port) const noexcept {
  return find_port(inputs, port);
}

const Port* Model::find_output(std::string_view port) const noexcept {
  return find_port(outputs, port);
}

const Model* Bundle::find_model(std::string_view node) const noexcept {
  const auto found = std::find_if(models.begin(), models.end(),
                                  [&](const Model& model) { return model.name == node; });
  return found == models.end() ? nullptr : &*found;
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

std::optional<PortRef> parse_port_ref(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) {
    return std::nullopt;
  }
  return PortRef{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

}  // namespace leapp
