#include "state/first_tick.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <ranges>

namespace leapp::state {
namespace {

using Origin = State::Origin;

bool is_given(const State& state) {
  return state.origin == Origin::kExplicit || state.origin == Origin::kDeclared;
}

// Returns whether two passes declare the same states, which are the first written states.
bool declare_the_same(const WrittenPass& a, const WrittenPass& b) {
  const auto given = std::views::filter(is_given);
  return std::ranges::equal(a.states | given, b.states | given, [](const State& x, const State& y) {
    return x.origin == y.origin && x.slot.name == y.slot.name;
  });
}

// Returns whether another node reads or writes memory of this node.
bool shares_memory(const Subject& subject) {
  const Node& node = subject.node;
  std::set<const c10::StorageImpl*> others;
  for (const Node* other : subject.nodes) {
    if (other->id == node.id) continue;
    for (const Pass& pass : other->passes) {
      for (const session::MemoryUse& use : pass.memory) others.insert(trace::memory_of(use.found));
    }
  }
  others.erase(nullptr);
  for (const Pass& pass : node.passes) {
    for (const session::MemoryUse& use : pass.memory) {
      if (!use.declared.empty() || (!use.after && !use.writer)) continue;
      if (use.writer && use.writer->node != node.id) return true;
      if (others.count(trace::memory_of(use.found)) > 0) return true;
    }
  }
  return false;
}

// Returns the variable in the first pass of an external tensor that the second pass read.
VarId left_by_first_pass(const Node& node, VarId var) {
  const session::OutsideRead* read = node.passes[1].find_outside(var);
  return read == nullptr ? kNoId : read->known.at(0).var;
}

// Sets the value that the first tick leaves in an undeclared state; its value before is not used.
// Returns false if it is unknown.
bool open_found(NodeStates& done, State& state) {
  if (!state.slot.name.empty()) return false;
  const VarId read = done.read_as(state);
  const VarId left = read == kNoId ? kNoId : left_by_first_pass(*done.node, read);
  if (left == kNoId) return false;
  const at::Tensor nothing = at::zeros_like(state.per_pass[1].before);
  done.opening.push_back({.value = nothing, .after = left});
  state.per_pass[0] = {nothing, state.per_pass[1].before};
  return true;
}

// Adds values of the first pass that later ones read and never replace, such as an offset that is
// computed once.
void keep_from_first_pass(NodeStates& done) {
  const Node& node = *done.node;
  const trace::Recording second = recording_of(done);
  const trace::Tape& tape = *second.tape;
  std::set<VarId> seen;
  for (const State& state : done.states) seen.insert(done.read_as(state));
  for (const std::int32_t index : second.calls) {
    if (tape.call(index).is_inferred_alias()) continue;  // not read by the program
    trace::for_each_variable(tape, tape.call(index), [&](VarId var) {
      if (!seen.insert(var).second || tape.written_since(var, second.first_call)) return;
      const VarId made = left_by_first_pass(node, var);
      if (made == kNoId || !trace::depends_on_inputs(node.passes[0].tape(), made)) return;
      const at::Tensor value = trace::copy_of(tape.content(var));
      done.states.push_back({.origin = Origin::kCarried, .slot = {.before = var, .after = var}});
      done.states.back().per_pass.assign(node.passes.size(), {value, value});
    });
  }
}

void add_flag(NodeStates& done) {
  const Node& node = *done.node;
  const std::vector<at::Tensor>& outputs = node.passes[0].outputs;
  const at::Device device = outputs.empty() ? at::kCPU : outputs.front().device();
  const at::Tensor yes = at::ones({}, at::TensorOptions(at::kBool).device(device));
  const at::Tensor no = at::zeros_like(yes);
  const StateSlot slot = {
      .name = unused_name(node, done.states, "first_tick"), .value = yes, .constant = no};
  State flag = {.origin = Origin::kFlag, .slot = slot};
  flag.per_pass.assign(node.passes.size(), {no, no});
  flag.per_pass[0].before = yes;
  done.states.push_back(std::move(flag));
  done.opening.push_back(slot);
}

}  // namespace

std::optional<Carried> find_first_tick(const Subject& subject,
                                       const std::vector<Difference>& differences) {
  if (differences.empty() || subject.node.read_values) return std::nullopt;
  // If only a constant differs, it probably also changes at other times.
  if (std::ranges::any_of(differences, &Difference::constant)) return std::nullopt;
  const WrittenPass& first = subject.passes[0];
  if (!declare_the_same(first, subject.passes[1]) || shares_memory(subject)) return std::nullopt;
  if (subject.passes.size() < 3) return Carried{.in_doubt = true, .passes = 3};
  const Subject rest = {
      .node = subject.node, .passes = subject.passes, .paths = subject.paths, .base = 1};
  Carried carried = find_carried(rest);
  NodeStates& done = carried.kept;
  if ((carried.in_doubt && carried.passes == 0) || !done.renewed.empty() ||
      !compare_passes(rest, carried).empty()) {
    return std::nullopt;
  }
  if (carried.in_doubt) return carried;
  keep_from_first_pass(done);
  for (std::size_t i = 0; i < done.states.size(); ++i) {
    if (is_given(done.states[i])) {
      done.opening.push_back(first.states[i].slot);
    } else if (!open_found(done, done.states[i])) {
      return std::nullopt;
    }
  }
  add_flag(done);
  return carried;
}

}  // namespace leapp::state
