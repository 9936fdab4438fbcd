#include "state/first_tick.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "state/carried.h"

namespace leapp::state {
namespace {

using Origin = State::Origin;

// A value of the first pass, as a variable of its tape and as the state it has become.
struct Kept {
  VarId made = kNobody;  // by the first pass
  State state;
};

bool is_given(const State& state) {
  return state.origin == Origin::kExplicit || state.origin == Origin::kDeclared;
}

// What was declared comes first.
bool have_the_same_given(const WrittenPass& one, const WrittenPass& other) {
  for (std::size_t i = 0; i < std::max(one.states.size(), other.states.size()); ++i) {
    const State* a = i < one.states.size() && is_given(one.states[i]) ? &one.states[i] : nullptr;
    const State* b =
        i < other.states.size() && is_given(other.states[i]) ? &other.states[i] : nullptr;
    if ((a == nullptr) != (b == nullptr)) return false;
    if (a != nullptr && (a->origin != b->origin || a->slot.name != b->slot.name)) return false;
  }
  return true;
}

// Whether another node reads or writes memory that this one does.
bool shares_memory(const Node& node, std::span<const Node* const> nodes) {
  const auto used_by_others = [&](const at::Tensor& found) {
    return std::any_of(nodes.begin(), nodes.end(), [&](const Node* other) {
      return other->id != node.id &&
             std::any_of(other->passes.begin(), other->passes.end(), [&](const Pass& pass) {
               return std::any_of(
                   pass.memory.begin(), pass.memory.end(),
                   [&](const session::MemoryUse& use) { return use.found.is_alias_of(found); });
             });
    });
  };
  return std::any_of(node.passes.begin(), node.passes.end(), [&](const Pass& pass) {
    return std::any_of(pass.memory.begin(), pass.memory.end(), [&](const auto& use) {
      if (!use.declared.empty() || (!use.after && !use.writer)) return false;
      return (use.writer && use.writer->node != node.id) || used_by_others(use.found);
    });
  });
}

// Whether the passes look like it at all.
bool may_be_first_tick(const Node& node, std::span<const Node* const> nodes,
                       const std::vector<WrittenPass>& passes,
                       const std::vector<Difference>& differences) {
  if (passes.size() < 3 || node.read_values) return false;
  // Where nothing but a constant differs, more likely it changes now and then.
  if (std::any_of(differences.begin(), differences.end(),
                  [](const Difference& each) { return each.constant; })) {
    return false;
  }
  return have_the_same_given(passes[0], passes[1]) && !shares_memory(node, nodes);
}

// What a tensor from outside that the second pass read was in the first.
VarId left_by_first_pass(const Node& node, VarId var) {
  const Pass& second = node.passes[1];
  if (second.tape().variable(var).origin != trace::Variable::Origin::kOutside) return kNobody;
  const session::OutsideRead* read = second.find_outside(var);
  return read == nullptr ? kNobody : read->known.at(0).var;
}

// The variable that a state is read as, in the second pass.
VarId read_as(const Pass& second, const State& state) {
  if (state.slot.before != kNobody) return state.slot.before;
  if (state.slot.sites.empty()) return kNobody;
  return trace::variable_at(second.tape(), state.slot.sites.front());
}

class FirstTick {
 public:
  FirstTick(const Node& node, NodeStates rest) : node_(node), done_(std::move(rest)) {}

  std::optional<NodeStates> run(const std::vector<WrittenPass>& passes) && {
    for (std::size_t i = 0; i < done_.states.size(); ++i) {
      const State& state = done_.states[i];
      if (is_given(state)) {
        done_.opening.push_back(passes[0].states[i].slot);
      } else if (!open_found(done_.states[i])) {
        return std::nullopt;
      }
    }
    for (Kept& kept : kept_from_first_pass()) add_kept(std::move(kept));
    add_flag();
    for (std::size_t i = 0; i < done_.states.size(); ++i) {
      done_.opening[i].name = done_.states[i].slot.name;
    }
    return std::move(done_);
  }

 private:
  bool open_found(State& state);
  std::vector<Kept> kept_from_first_pass() const;
  void add_kept(Kept kept);
  void add_flag();

  const Node& node_;
  NodeStates done_;
};

// What the first tick leaves in a state that nobody declared; what it finds there is not used.
bool FirstTick::open_found(State& state) {
  if (state.fed_by || !state.slot.name.empty()) return false;
  const VarId read = read_as(node_.passes[1], state);
  const VarId left = read == kNobody ? kNobody : left_by_first_pass(node_, read);
  if (left == kNobody) return false;
  const at::Tensor nothing = at::zeros_like(state.per_pass[1].before);
  done_.opening.push_back({.value = nothing, .after = left});
  state.per_pass[0] = {nothing, state.per_pass[1].before};
  return true;
}

// Values of the first pass that later ones read and never replace, such as an offset that is taken
// once.
std::vector<Kept> FirstTick::kept_from_first_pass() const {
  const Pass& first = node_.passes[0];
  const Pass& second = node_.passes[1];
  const trace::Recording recording = recording_of(done_);
  std::set<VarId> seen;
  for (const State& state : done_.states) seen.insert(read_as(second, state));
  std::vector<Kept> kept;
  for (const std::int32_t index : recording.calls) {
    const trace::Call& call = second.tape().calls()[static_cast<std::size_t>(index)];
    trace::for_each_variable(second.tape(), call, [&](VarId var) {
      if (!seen.insert(var).second) return;
      if (second.tape().written_since(var, second.recording.first_call)) return;  // a state's
      const VarId made = left_by_first_pass(node_, var);
      if (made == kNobody || !trace::depends_on_inputs(first.tape(), made)) return;
      kept.push_back({made, {.origin = Origin::kCarried, .slot = {.before = var, .after = var}}});
    });
  }
  return kept;
}

void FirstTick::add_kept(Kept kept) {
  const at::Tensor value = trace::copy_of(node_.passes[1].tape().content(kept.state.slot.before));
  const at::Tensor nothing = at::zeros_like(value);
  done_.opening.push_back({.value = nothing, .after = kept.made});
  kept.state.per_pass.assign(node_.passes.size(), {value, value});
  kept.state.per_pass[0].before = nothing;
  done_.states.push_back(std::move(kept.state));
}

void FirstTick::add_flag() {
  const std::vector<at::Tensor>& outputs = node_.passes[0].outputs;
  const at::Device device = outputs.empty() ? at::kCPU : outputs.front().device();
  const at::Tensor yes = at::ones({}, at::TensorOptions(at::kBool).device(device));
  const at::Tensor no = at::zeros_like(yes);
  const StateSlot slot = {
      .name = unused_name(node_, done_.states, "first_tick"), .value = yes, .constant = no};
  State flag = {.origin = Origin::kFlag, .slot = slot};
  flag.per_pass.assign(node_.passes.size(), {no, no});
  flag.per_pass[0].before = yes;
  done_.states.push_back(std::move(flag));
  done_.opening.push_back(slot);
}

}  // namespace

std::optional<NodeStates> find_first_tick(const Node& node, std::span<const Node* const> nodes,
                                          const std::vector<WrittenPass>& passes,
                                          const std::vector<Difference>& differences,
                                          const Paths& paths) {
  if (!may_be_first_tick(node, nodes, passes, differences)) return std::nullopt;
  const std::vector<State> written = find_written(passes, 1);
  const Followed followed = follow(node, passes, 1, written);
  Carried carried = find_carried(node, 1, followed, written, {}, paths);
  if (carried.in_doubt || !carried.renewed.empty() ||
      !compare_passes(node, passes, 1, followed, carried.states, paths).empty()) {
    return std::nullopt;
  }
  NodeStates rest = {.node = &node, .base = 1, .states = std::move(carried.states)};
  add_written(rest);  // what is carried may depend on more of it
  return FirstTick(node, std::move(rest)).run(passes);
}

}  // namespace leapp::state
