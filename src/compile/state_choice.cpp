#include "compile/state_choice.h"

#include "ir/passes.h"

namespace leapp::compile {
namespace {

using state::State;
using trace::Purified;
using Origin = State::Origin;

std::vector<ir::ValueId> roots_of(const Purified& purified, const std::vector<bool>& out) {
  std::vector<ir::ValueId> roots = purified.outputs;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i]) roots.push_back(purified.after[i]);
  }
  return roots;
}

}  // namespace

StateChoice choose_states(const std::vector<State>& candidates, const Purified& purified,
                          const std::vector<bool>& wanted) {
  StateChoice choice;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Origin origin = candidates[i].origin;
    choice.in.push_back(origin == Origin::kExplicit ||
                        (origin == Origin::kDeclared && !candidates[i].fed_by));
    choice.out.push_back(choice.in.back() || wanted[i]);
  }
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<bool> reached =
        ir::needed_for(purified.graph, roots_of(purified, choice.out));
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (candidates[i].origin == Origin::kExplicit) continue;
      const bool matters = reached[static_cast<std::size_t>(purified.before[i])];
      const bool may_leave = candidates[i].origin == Origin::kDeclared;
      if (matters == choice.in[i] || (!matters && !may_leave)) continue;
      choice.in[i] = matters;
      const bool feeds_itself = !candidates[i].fed_by && candidates[i].slot.is_left();
      choice.out[i] = (matters && feeds_itself) || wanted[i];
      changed = true;
    }
  }
  return choice;
}

void close_graph(const state::NodeStates& states, const StateChoice& choice, Purified& purified) {
  const trace::Recording& recording = states.exported().recording;
  ir::Graph& graph = purified.graph;
  for (std::size_t i = 0; i < recording.outputs.size(); ++i) {
    graph.add_output(recording.outputs[i].name, purified.outputs[i]);
  }
  for (std::size_t i = 0; i < choice.out.size(); ++i) {
    if (choice.out[i]) graph.add_output(states.states[i].slot.name, purified.after[i]);
  }
  const std::vector<bool> reached = ir::needed_for(graph, roots_of(purified, choice.out));
  std::vector<ir::ValueId> inputs = graph.inputs();
  inputs.resize(recording.inputs.size());
  std::erase_if(inputs, [&](ir::ValueId id) { return !reached[static_cast<std::size_t>(id)]; });
  for (std::size_t i = 0; i < choice.in.size(); ++i) {
    if (choice.in[i]) inputs.push_back(purified.before[i]);
  }
  graph.set_inputs(std::move(inputs));
}

}  // namespace leapp::compile
