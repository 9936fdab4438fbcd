#include "runtime/engines/translation.h"

#include <string>

namespace leapp {

Model with_translation_ports(const Model& node) {
  Model model = node;
  const auto rename = [](std::vector<Port>& ports, const char* name) {
    for (std::size_t i = 0; i < ports.size(); ++i) ports[i].name = name + std::to_string(i);
  };
  rename(model.inputs, "in");
  rename(model.outputs, "out");
  return model;
}

}  // namespace leapp
