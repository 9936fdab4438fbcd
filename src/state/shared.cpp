#include "state/shared.h"

#include <algorithm>

#include "trace/constant.h"

namespace leapp::state {
namespace {

using session::MemoryUse;
using trace::memory_of;
using Origin = State::Origin;

// Its place among the memory that the pass writes to and nobody declared.
std::optional<std::size_t> place_of(const WrittenPass& pass, const MemoryUse& use) {
  std::size_t place = 0;
  for (const State& state : pass.states) {
    if (state.origin != Origin::kWritten) continue;
    if (pass.pass->find_memory(state.slot.before) == &use) return place;
    ++place;
  }
  return std::nullopt;
}

// Whether a later pass has its use where the first one has this: by the name it was declared with,
// by its place among what the pass writes, or by its memory.
bool are_same(const WrittenPass& first, const MemoryUse& use, const WrittenPass& later,
              const MemoryUse& again) {
  if (!use.declared.empty() || !again.declared.empty()) return use.declared == again.declared;
  const auto place = place_of(later, again);
  return place ? place == place_of(first, use) : memory_of(use.found) == memory_of(again.found);
}

// The memory that a state is in; null where it is in none.
const MemoryUse* use_of(const State& state, const Pass& first) {
  const bool is_read = state.slot.before != kNobody || state.origin == Origin::kCarried;
  const VarId var = is_read ? state.slot.before : state.slot.after;
  return var == kNobody ? nullptr : first.find_memory(var);
}

// Lets the node begin each tick with what the first pass found there.
void start_anew(NodeStates& states, State& state) {
  if (state.slot.before == kNobody) return;
  states.renewed.push_back(std::exchange(state.slot.before, kNobody));
  state.slot.value = state.per_pass.front().before;
}

// What a node writes for others, where nobody gives it its value: state if the node finds what it
// left, and a constant that it starts from where that is set anew.
void settle(NodeStates& states, State& state, Findings& findings) {
  const Node& node = *states.node;
  Persistence found;
  for (std::size_t k = 1; k < state.per_pass.size(); ++k) {
    const at::Tensor& before = state.per_pass[k].before;
    const at::Tensor& left = state.per_pass[k - 1].after;
    if (before.defined() && left.defined()) found.add(before, left, state.per_pass.front().before);
  }
  if (found.is_set_anew() || is_scratch(node, state.slot.before)) start_anew(states, state);
  if (!found.strange) return;
  findings.push_back(warning(Code::kForeignWrite, node.passes.front().opened_at, node.name,
                             "node '" + node.name + "' writes to memory that another node reads" +
                                 kForeignWriteText));
}

// A node's memory in its first pass.
struct Use {
  std::size_t node = 0;  // among the nodes
  const MemoryUse* memory = nullptr;

  bool operator==(const Use&) const = default;
};

class Sharing {
 public:
  Sharing(std::vector<NodeStates> nodes, const std::vector<std::vector<WrittenPass>>& written)
      : nodes_(std::move(nodes)), written_(written) {}

  std::vector<NodeStates> run(Findings& findings) &&;

 private:
  const Node& node_at(std::size_t node) const { return *nodes_[node].node; }
  const std::vector<MemoryUse>& memory_at(std::size_t node) const {
    return node_at(node).passes.front().memory;
  }

  const MemoryUse* find_in(const Use& use, const WrittenPass& pass) const;
  std::optional<Use> find_writer(const MemoryUse& reader) const;
  std::optional<Use> find_last_writer(const Use& use) const;
  std::optional<Use> source_of(const Use& use) const;
  State::Values values_of(const Use& use, const WrittenPass& pass,
                          const std::optional<Use>& source) const;
  bool is_set_anew(const Use& use) const;
  std::size_t state_of(const Use& use, const std::optional<Use>& source);

  std::vector<NodeStates> nodes_;
  const std::vector<std::vector<WrittenPass>>& written_;  // by node, then by pass
};

const MemoryUse* Sharing::find_in(const Use& use, const WrittenPass& pass) const {
  const WrittenPass& first = written_[use.node].front();
  const auto it = std::ranges::find_if(pass.pass->memory, [&](const MemoryUse& again) {
    return are_same(first, *use.memory, pass, again);
  });
  return it == pass.pass->memory.end() ? nullptr : &*it;
}

// Who left behind what a use found, in the writer's first pass.
std::optional<Use> Sharing::find_writer(const MemoryUse& reader) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (node_at(i).id != reader.writer->node) continue;
    const WrittenPass& pass = written_[i].at(reader.writer->pass);
    for (const MemoryUse& first : memory_at(i)) {
      const MemoryUse* use = find_in({i, &first}, pass);
      if (use == nullptr || !use->after || memory_of(use->left) != memory_of(reader.found))
        continue;
      return Use{i, &first};
    }
  }
  return std::nullopt;
}

// Who of the nodes behind is the last to change what the use leaves, for the next tick to find.
std::optional<Use> Sharing::find_last_writer(const Use& use) const {
  const auto* memory = memory_of(use.memory->after ? use.memory->left : use.memory->found);
  std::optional<Use> last;
  for (std::size_t i = use.node + 1; i < nodes_.size(); ++i) {
    for (const MemoryUse& other : memory_at(i)) {
      if (!other.after || memory_of(other.found) != memory) continue;
      // A buffer that is replaced is the same one where it has the same name.
      if (memory_of(other.left) != memory && other.declared != use.memory->declared) continue;
      memory = memory_of(other.left);
      last = {i, &other};
      break;
    }
  }
  return last;
}

std::optional<Use> Sharing::source_of(const Use& use) const {
  for (const WrittenPass& pass : written_[use.node]) {
    const MemoryUse* now = find_in(use, pass);
    if (now != nullptr && now->writer) return find_writer(*now);
  }
  // With several passes, one would have found what another node wrote.
  const bool alone = written_[use.node].size() == 1 && !use.memory->let_go;
  return alone ? find_last_writer(use) : std::nullopt;
}

// What a pass has where the first has the use: the same memory, or, where that is made anew in
// every pass, what the source left.
State::Values Sharing::values_of(const Use& use, const WrittenPass& pass,
                                 const std::optional<Use>& source) const {
  const MemoryUse* now = find_in(use, pass);
  if (now == nullptr && source) {
    const auto& memory = pass.pass->memory;
    const auto it = std::ranges::find_if(memory, [&](const MemoryUse& other) {
      return other.writer && find_writer(other) == source;
    });
    if (it != memory.end()) now = &*it;
  }
  return now == nullptr ? State::Values{} : State::Values{now->value_before(), now->value_after()};
}

// Whether later passes found there what the first one did, and not what another node had left: the
// program sets it anew.
bool Sharing::is_set_anew(const Use& use) const {
  Persistence found;
  for (const WrittenPass& pass : written_[use.node]) {
    const MemoryUse* now = find_in(use, pass);
    if (&pass == &written_[use.node].front() || now == nullptr || !now->writer) continue;
    const auto writer = find_writer(*now);
    if (!writer) continue;
    const MemoryUse* left = find_in(*writer, written_[writer->node].at(now->writer->pass));
    found.add(now->value_before(), left->value_after(), use.memory->value_before());
  }
  return found.is_set_anew();
}

// The state that the use is, made when there is none.
std::size_t Sharing::state_of(const Use& use, const std::optional<Use>& source) {
  std::vector<State>& states = nodes_[use.node].states;
  const Pass& first = node_at(use.node).passes.front();
  const auto known = std::ranges::find_if(
      states, [&](const State& state) { return use_of(state, first) == use.memory; });
  if (known != states.end()) return static_cast<std::size_t>(known - states.begin());
  const VarId var = use.memory->var;
  State state = {.origin = Origin::kShared,
                 .slot = {.before = var, .after = use.memory->after ? var : kNobody}};
  for (const WrittenPass& pass : written_[use.node]) {
    state.per_pass.push_back(values_of(use, pass, source));
  }
  states.push_back(std::move(state));
  return states.size() - 1;
}

std::vector<NodeStates> Sharing::run(Findings& findings) && {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].base != 0) continue;  // it uses no memory of others
    for (const MemoryUse& memory : memory_at(i)) {
      const Use use = {i, &memory};
      if (!memory.before) continue;  // an input that the user declared
      const auto source = source_of(use);
      if (!source || source->node == i) continue;
      if (is_set_anew(use)) {
        for (State& state : nodes_[i].states) {
          if (use_of(state, node_at(i).passes.front()) == &memory) start_anew(nodes_[i], state);
        }
        continue;
      }
      const Node& from = node_at(source->node);
      if (!trace::same_type(memory.found, source->memory->left)) {
        findings.push_back(warning(
            Code::kSharedShape, node_at(i).passes.front().opened_at, node_at(i).name,
            "node '" + node_at(i).name + "' reads memory that node '" + from.name +
                "' writes, in another shape: its present value is exported as a constant. Pass it "
                "through annotate.input_tensors()."));
        continue;
      }
      const std::size_t read = state_of(use, source);
      const std::size_t written = state_of(*source, std::nullopt);
      nodes_[i].states[read].fed_by = State::Feed{from.id, {}, written};
    }
  }
  for (NodeStates& states : nodes_) {
    for (State& state : states.states) {
      if (state.origin != Origin::kShared || state.fed_by || !state.slot.is_left()) continue;
      settle(states, state, findings);
    }
  }
  return std::move(nodes_);
}

}  // namespace

std::vector<NodeStates> find_shared(std::vector<NodeStates> nodes,
                                    const std::vector<std::vector<WrittenPass>>& written,
                                    Findings& findings) {
  return Sharing(std::move(nodes), written).run(findings);
}

}  // namespace leapp::state
