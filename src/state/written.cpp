#include "state/written.h"

#include <algorithm>
#include <set>

namespace leapp::state {
namespace {

using Origin = State::Origin;

// Adds memory that `pass` writes to and that what it computes depends on, unless it is `known`.
void add_memory(const Pass& pass, std::vector<State>& states, std::set<trace::StoreId> known) {
  const trace::Tape& tape = pass.tape();
  for (bool again = true; again;) {
    again = false;
    for (const std::int32_t index : trace::calls_for(pass.recording, slots_of(states))) {
      const trace::Call& call = tape.calls()[static_cast<std::size_t>(index)];
      trace::for_each_variable(tape, call, [&](VarId var) {
        const trace::StoreId id = tape.variable(var).store;
        if (id == kNobody || !tape.store(id).capture || tape.store(id).fresh) return;
        if (!tape.written_since(var, pass.recording.first_call)) return;
        const VarId root = tape.store(id).variables.front();
        if (tape.variable(root).origin != trace::Variable::Origin::kOutside) return;
        if (!known.insert(id).second) return;
        states.push_back({.origin = Origin::kWritten, .slot = {.before = root, .after = root}});
        again = true;
      });
    }
  }
}

std::set<trace::StoreId> stores_of(const Pass& pass, const std::vector<State>& states) {
  std::set<trace::StoreId> stores;
  for (const State& state : states) {
    if (state.slot.before != kNobody) stores.insert(pass.tape().variable(state.slot.before).store);
  }
  return stores;
}

// The state of another pass that this one is: the `ordinal`-th of those that were merely found.
const State* counterpart(const std::vector<State>& states, const State& state,
                         std::size_t ordinal) {
  for (const State& other : states) {
    if (other.origin != state.origin) continue;
    if (state.origin != Origin::kWritten) {
      if (other.slot.name == state.slot.name) return &other;
    } else if (ordinal-- == 0) {
      return &other;
    }
  }
  return nullptr;
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

void add_written(NodeStates& states) {
  const Pass& pass = states.exported();
  std::set<trace::StoreId> known = stores_of(pass, states.states);
  for (const VarId var : states.renewed) known.insert(pass.tape().variable(var).store);
  const std::size_t before = states.states.size();
  add_memory(pass, states.states, std::move(known));
  for (std::size_t i = before; i < states.states.size(); ++i) {
    State& state = states.states[i];
    // The other passes find the same memory, as far as they find any.
    const session::MemoryUse* use = pass.find_memory(state.slot.before);
    for (const Pass& other : states.node->passes) {
      State::Values values;
      for (const session::MemoryUse& there : other.memory) {
        if (use == nullptr || !there.found.is_alias_of(use->found)) continue;
        values = {there.value_before(), there.value_after()};
      }
      state.per_pass.push_back(std::move(values));
    }
  }
}

State::Values values_in(const Pass& pass, const State& state) {
  if (state.origin == Origin::kExplicit) {
    const auto it = std::find_if(pass.states.begin(), pass.states.end(), [&](const auto& declared) {
      return declared.name == state.slot.name;
    });
    if (it == pass.states.end()) return {};
    return {it->initial, it->updated};
  }
  const session::MemoryUse* use = pass.find_memory(state.slot.before);
  if (use != nullptr) return {use->value_before(), use->value_after()};
  const at::Tensor content = trace::copy_of(pass.tape().content(state.slot.before));
  return {content, content};
}

std::vector<State> find_written(const std::vector<WrittenPass>& passes, std::size_t base) {
  std::vector<State> states = passes[base].states;
  std::size_t ordinal = 0;
  for (State& state : states) {
    for (const WrittenPass& pass : passes) {
      const State* there = counterpart(pass.states, state, ordinal);
      state.per_pass.push_back(there == nullptr ? State::Values{} : values_in(*pass.pass, *there));
    }
    if (state.origin == Origin::kWritten) ++ordinal;
  }
  return states;
}

}  // namespace leapp::state
