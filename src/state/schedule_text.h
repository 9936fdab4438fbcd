// Schedules as text, for messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "session/record/node.h"

namespace leapp::state {

/// Returns "5th".
std::string nth(std::int64_t number);

/// Returns "in every 5th tick, from tick 2 on", "when trigger/run is true", and so on.
std::string to_words(const NodeSchedule& entry);

/// Returns "planner: in every 5th tick of tracker, seen 3 times".
std::string describe_entry(const NodeSchedule& entry, const std::string& base, std::size_t seen);

/// Returns the Python call that states the entries: leapp.start(schedule={"planner": {"every":
/// 5}}).
std::string declaration_of(const std::vector<NodeSchedule>& entries);

/// Returns "0, 1, 4, .." for the first ticks.
std::string ticks_in_words(const std::vector<int>& ticks);

/// Returns "'planner' 3 times, 'tracker' 15 times".
std::string counts_in_words(std::span<const session::Node* const> nodes);

/// Returns "node 'policy' computed new outputs in 2 of 150 passes, and ..", for the two nodes of a
/// queue of actions.
std::string played_in_words(const session::Node& computing, const session::Node& playing);

}  // namespace leapp::state
