#include "state/written.h"

#include "base/find.h"
#include "trace/constant.h"

namespace leapp::state {
namespace {

using Origin = State::Origin;

// Adds memory that `pass` writes to and that its results depend on, unless it is `known`.
void add_memory(const Pass& pass, std::vector<State>& states, std::set<trace::StoreId> known) {
  const trace::Tape& tape = pass.tape();
  for (bool again = true; again;) {
    again = false;
    for (const std::int32_t index : trace::calls_for(pass.recording, slots_of(states))) {
      trace::for_each_variable(tape, tape.call(index), [&](VarId var) {
        const VarId root = trace::root_outside(tape, var);
        if (root == kNoId || !pass.writes(var)) return;
        if (!known.insert(tape.variable(root).store).second) return;
        states.push_back({.origin = Origin::kWritten, .slot = {.before = root, .after = root}});
        again = true;
      });
    }
  }
}

// The value of a state of `own` in a pass; undefined if that pass neither declared nor used it.
State::Values held_in(const Pass& pass, const Pass& own, const State& state) {
  if (state.origin == Origin::kExplicit) {
    const auto* declared = find_in(pass.states, state.slot.name, &session::Declared::name);
    return declared ? State::Values{declared->initial, declared->updated} : State::Values{};
  }
  if (&pass == &own) return values_in(pass, state.slot.before);
  const session::MemoryUse* use = own.find_memory(state.slot.before);
  for (const session::MemoryUse& there : pass.memory) {
    if (use != nullptr && are_same(*use, there)) return values_of(there);
  }
  return {};
}

void add_values(const Node& node, const Pass& own, std::vector<State>& states) {
  for (State& state : states) {
    for (const Pass& pass : node.passes) state.per_pass.push_back(held_in(pass, own, state));
  }
}

}  // namespace

WrittenPass written_in(const Pass& pass) {
  WrittenPass written = {&pass, {}, {}};
  for (const std::vector<session::Declared>* declared : {&pass.states, &pass.buffers}) {
    for (const session::Declared& each : *declared) {
      if (each.after == kNoId) continue;
      written.states.push_back(
          {.origin = declared == &pass.states ? Origin::kExplicit : Origin::kDeclared,
           .slot = {.name = each.name, .before = each.before, .after = each.after}});
    }
  }
  add_memory(pass, written.states, stores_of(pass, written.states));
  written.calls = trace::calls_for(pass.recording, slots_of(written.states));
  return written;
}

std::vector<WrittenPass> written_in(const Node& node) {
  std::vector<WrittenPass> passes;
  for (const Pass& pass : node.passes) passes.push_back(written_in(pass));
  return passes;
}

bool is_scratch(const Node& node, VarId var) {
  if (node.passes.size() > 1 || var == kNoId) return false;
  const session::MemoryUse* use = node.passes.front().find_memory(var);
  return use != nullptr && use->declared.empty() && !use->writer && use->let_go;
}

std::vector<State> more_written(const NodeStates& states) {
  const Pass& pass = states.exported();
  std::set<trace::StoreId> known = stores_of(pass, states.states);
  for (const VarId var : states.renewed) known.insert(pass.tape().variable(var).store);
  std::vector<State> all = states.states;
  add_memory(pass, all, std::move(known));
  std::vector<State> more(all.begin() + std::ssize(states.states), all.end());
  add_values(*states.node, pass, more);
  return more;
}

void Persistence::add(const at::Tensor& before, const at::Tensor& left, const at::Tensor& first) {
  const bool as_left = trace::same_value(before, left);
  const bool as_first = trace::same_value(before, first);
  continued |= as_left && !as_first;
  renewed |= as_first && !as_left;
  strange |= !as_first && !as_left;
}

std::set<trace::StoreId> stores_of(const Pass& pass, const std::vector<State>& states) {
  std::set<trace::StoreId> stores;
  for (const State& state : states) {
    if (state.slot.before != kNoId) stores.insert(pass.tape().variable(state.slot.before).store);
  }
  return stores;
}

bool are_same(const session::MemoryUse& a, const session::MemoryUse& b) {
  if (!a.declared.empty() || !b.declared.empty()) return a.declared == b.declared;
  return trace::memory_of(a.found) == trace::memory_of(b.found);
}

State::Values values_of(const session::MemoryUse& use) {
  return {use.value_before(), use.value_after()};
}

State::Values values_in(const Pass& pass, VarId var) {
  if (const session::MemoryUse* use = pass.find_memory(var)) return values_of(*use);
  const at::Tensor content = trace::copy_of(pass.tape().content(var));
  return {content, content};
}

std::vector<State> find_written(const Node& node, const WrittenPass& pass) {
  std::vector<State> states = pass.states;
  add_values(node, *pass.pass, states);
  return states;
}

}  // namespace leapp::state
