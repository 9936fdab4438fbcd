#include "state/state.h"

#include <ranges>

#include "base/find.h"
#include "base/unused_name.h"

namespace leapp::state {

VarId NodeStates::read_as(const State& state) const {
  if (state.slot.sites.empty()) return state.slot.before;
  return trace::variable_at(exported().tape(), state.slot.sites.front());
}

State* find_state(std::vector<State>& states, VarId before) {
  return find_in(states, before, [](const State& state) { return state.slot.before; });
}

std::vector<StateSlot> slots_of(const std::vector<State>& states) {
  const auto slots = std::views::transform(states, &State::slot);
  return {slots.begin(), slots.end()};
}

trace::Recording recording_of(const NodeStates& states) {
  trace::Recording recording = states.exported().recording;
  recording.calls = trace::calls_for(recording, slots_of(states.states));
  return recording;
}

std::string unused_name(const Node& node, const std::vector<State>& states,
                        const std::string& wish) {
  const auto is_taken = [&](const std::string& name) {
    for (const auto* ports : {&node.inputs, &node.outputs, &node.states}) {
      if (find_port(*ports, name) != nullptr) return true;
    }
    return std::ranges::any_of(states, [&](const State& s) { return s.slot.name == name; });
  };
  return leapp::unused_name(wish, is_taken);
}

}  // namespace leapp::state
