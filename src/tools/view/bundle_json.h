// Parts of a bundle as JSON, with the names of its YAML.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "leapp/bundle.h"

namespace leapp::view {

/// Returns any value of the YAML.
nlohmann::ordered_json to_json(const Metadata& metadata);
nlohmann::ordered_json to_json(const Metadata::Map& map);

/// Returns name, type, shape, kind, element names and, under "extra", all other semantics.
nlohmann::ordered_json to_json(const Port& port);
nlohmann::ordered_json to_json(const std::vector<Port>& ports);

/// Returns "node/port" for each.
std::vector<std::string> names_of(const std::vector<NodePorts>& nodes);

}  // namespace leapp::view
