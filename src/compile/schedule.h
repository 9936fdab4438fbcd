// The schedule of a bundle, from the schedule of its program.
#pragma once

#include <span>
#include <vector>

#include "rehearse/exported_node.h"

namespace leapp::compile {

/// Returns the entries that the program states: those of leapp.start(), and those of annotations.
/// Throws Error if both state one for the same node.
std::vector<NodeSchedule> stated_schedule(const std::vector<NodeSchedule>& of_start,
                                          std::span<const session::Node* const> nodes);

/// Adds the entries, whose ports have their annotated names, to a connected bundle. A node with
/// several runs per tick also carries its states from run to run. Ports that the model does not
/// have are left out. Throws Error if a condition is not a port of its model.
void add_schedule(const std::vector<NodeSchedule>& entries,
                  const std::vector<rehearse::ExportedNode>& nodes, Bundle& bundle);

}  // namespace leapp::compile
