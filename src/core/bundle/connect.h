// A pipeline under construction: wires are added one by one; the unconnected ports then become the
// pipeline's ports.
#pragma once

#include <set>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

/// Connects `source` to `target`. Wires stay in the order of the YAML.
LEAPP_EXPORT void add_wire(std::vector<Wire>& wires, const PortRef& source, const PortRef& target);

/// Lists the pipeline's inputs, which have no wire, and its outputs: those that no forward wire
/// reads and that are not in `hidden`, such as state. In the order of the YAML.
LEAPP_EXPORT void list_open_ports(Bundle& bundle, const std::set<PortRef>& hidden);

}  // namespace leapp
