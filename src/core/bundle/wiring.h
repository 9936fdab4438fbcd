// A pipeline in the making: wires one by one, then the ports that they leave to its caller.
#pragma once

#include <set>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

/// Lets `target` receive what `source` puts out. Wires stay in the order of the YAML.
LEAPP_EXPORT void add_wire(std::vector<Wire>& wires, const PortRef& source, const PortRef& target);

/// Fills in what a caller supplies, the inputs of the models that no wire feeds, and what it gets
/// back: the outputs that no wire hands on in the same tick and that are not in `hidden`, as state
/// is. In the order of the YAML.
LEAPP_EXPORT void list_open_ports(Bundle& bundle, const std::set<PortRef>& hidden);

}  // namespace leapp
