#include "state/state.h"

#include <algorithm>

namespace leapp::state {

std::vector<StateSlot> slots_of(const std::vector<State>& states) {
  std::vector<StateSlot> slots;
  slots.reserve(states.size());
  for (const State& state : states) slots.push_back(state.slot);
  return slots;
}

trace::Recording recording_of(const NodeStates& states) {
  trace::Recording recording = states.exported().recording;
  recording.calls = trace::calls_for(recording, slots_of(states.states));
  return recording;
}

bool is_taken(const Node& node, const std::vector<State>& states, const std::string& name) {
  const auto is_it = [&](const State& state) { return state.slot.name == name; };
  return find_port(node.inputs, name) != nullptr || find_port(node.outputs, name) != nullptr ||
         find_port(node.states, name) != nullptr ||
         std::any_of(states.begin(), states.end(), is_it);
}

std::string unused_name(const Node& node, const std::vector<State>& states,
                        const std::string& wish) {
  std::string name = wish;
  for (int n = 1; is_taken(node, states, name); ++n) name = wish + "_" + std::to_string(n);
  return name;
}

}  // namespace leapp::state
