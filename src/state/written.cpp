#include "state/written.h"

#include "trace/constant.h"

namespace leapp::state {
namespace {

using Origin = State::Origin;

// Adds memory that `pass` writes to and that what it computes depends on, unless it is `known`.
void add_memory(const Pass& pass, std::vector<State>& states, std::set<trace::StoreId> known) {
  const trace::Tape& tape = pass.tape();
  for (bool again = true; again;) {
    again = false;
    for (const std::int32_t index : trace::calls_for(pass.recording, slots_of(states))) {
      trace::for_each_variable(tape, tape.call(index), [&](VarId var) {
        const VarId root = trace::root_outside(tape, var);
        if (root == kNobody || !tape.written_since(var, pass.recording.first_call)) return;
        if (!known.insert(tape.variable(root).store).second) return;
        states.push_back({.origin = Origin::kWritten, .slot = {.before = root, .after = root}});
        again = true;
      });
    }
  }
}

// What a pass held in the memory that a variable of another one is in; undefined where it did not
// use it.
State::Values memory_in(const Pass& pass, const Pass& other, VarId var) {
  if (&pass == &other) return values_in(pass, var);
  const session::MemoryUse* use = other.find_memory(var);
  for (const session::MemoryUse& there : pass.memory) {
    if (use == nullptr || !there.found.is_alias_of(use->found)) continue;
    return {there.value_before(), there.value_after()};
  }
  return {};
}

// What a declared state held in a pass; undefined where that did not declare it.
State::Values declared_in(const WrittenPass& written, const State& state) {
  for (const session::DeclaredState& each : written.pass->states) {
    if (state.origin == Origin::kExplicit && each.name == state.slot.name) {
      return {each.initial, each.updated};
    }
  }
  for (const State& other : written.states) {
    if (other.origin == Origin::kDeclared && other.slot.name == state.slot.name) {
      return values_in(*written.pass, other.slot.before);
    }
  }
  return {};
}

}  // namespace

WrittenPass written_in(const Pass& pass) {
  WrittenPass written = {&pass, {}, {}};
  for (const session::DeclaredState& state : pass.states) {
    if (state.after == kNobody) continue;  // never updated: an ordinary input
    written.states.push_back(
        {.origin = Origin::kExplicit,
         .slot = {.name = state.name, .before = state.before, .after = state.after}});
  }
  for (const session::DeclaredBuffer& buffer : pass.buffers) {
    if (!buffer.changed) continue;
    written.states.push_back(
        {.origin = Origin::kDeclared,
         .slot = {.name = buffer.name, .before = buffer.before, .after = buffer.after}});
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
  if (node.passes.size() > 1 || var == kNobody) return false;
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
  for (State& state : more) {
    for (const Pass& other : states.node->passes) {
      state.per_pass.push_back(memory_in(other, pass, state.slot.before));
    }
  }
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
    if (state.slot.before != kNobody) stores.insert(pass.tape().variable(state.slot.before).store);
  }
  return stores;
}

State::Values values_in(const Pass& pass, VarId var) {
  if (const session::MemoryUse* use = pass.find_memory(var)) {
    return {use->value_before(), use->value_after()};
  }
  const at::Tensor content = trace::copy_of(pass.tape().content(var));
  return {content, content};
}

std::vector<State> find_written(const std::vector<WrittenPass>& passes, std::size_t base) {
  std::vector<State> states = passes[base].states;
  for (State& state : states) {
    for (const WrittenPass& pass : passes) {
      state.per_pass.push_back(state.origin == Origin::kWritten
                                   ? memory_in(*pass.pass, *passes[base].pass, state.slot.before)
                                   : declared_in(pass, state));
    }
  }
  return states;
}

}  // namespace leapp::state
