#include "state/shared.h"

#include "base/find.h"
#include "state/rates.h"
#include "trace/constant.h"
#include "trace/geometry.h"

namespace leapp::state {
namespace {

using session::MemoryUse;
using trace::memory_of;
using Origin = State::Origin;

// Returns its index in the undeclared memory that the pass writes to.
std::optional<std::size_t> place_of(const WrittenPass& pass, const MemoryUse& use) {
  std::size_t place = 0;
  for (const State& state : pass.states) {
    if (state.origin != Origin::kWritten) continue;
    if (pass.pass->find_memory(state.slot.before) == &use) return place;
    ++place;
  }
  return std::nullopt;
}

// Finds the use in a later pass that corresponds to one in this pass: by its index among the
// written memory, or by equal memory.
bool is_again(const WrittenPass& first, const MemoryUse& use, const WrittenPass& later,
              const MemoryUse& again) {
  const auto place = place_of(later, again);
  return place ? place == place_of(first, use) : are_same(use, again);
}

// Sets the initial value of the node to the value that the first pass found.
void start_anew(NodeStates& states, State& state) {
  if (state.slot.before == kNoId) return;
  states.renewed.push_back(std::exchange(state.slot.before, kNoId));
  state.slot.value = state.per_pass.front().before;
}

// Memory that a node uses in its first pass, with its use in each pass.
struct Memory {
  NodeStates& owner;
  std::vector<const MemoryUse*> uses;  // by pass; null if it is not used

  const Node& node() const { return *owner.node; }
  const MemoryUse& first() const { return *uses.front(); }
};

// Returns the values after a use, in the form in which another use sees the memory, for example a
// row of it.
at::Tensor left_for(const MemoryUse& reader, const MemoryUse& writer) {
  const bool whole = trace::same_type(reader.found, writer.left) || !writer.after ||
                     memory_of(reader.found) != memory_of(writer.left);
  return whole ? writer.value_after() : trace::copy_of(writer.after->content(reader.found));
}

class Sharing {
 public:
  Sharing(std::vector<NodeStates> nodes, const std::vector<std::vector<WrittenPass>>& written)
      : nodes_(std::move(nodes)) {
    auto passes = written.begin();
    for (NodeStates& node : nodes_) {
      for (const MemoryUse& use : passes->front().pass->memory) add(node, use, *passes);
      ++passes;
    }
  }

  std::vector<NodeStates> run(Findings& findings) && {
    for (const Memory& memory : memories_) {
      if (memory.owner.base != 0) continue;  // it uses no memory of other nodes
      if (memory.first().before)
        feed(memory, findings);  // otherwise an input that the user declared
    }
    for (const Memory& memory : memories_) decide(memory, findings);
    return std::move(nodes_);
  }

 private:
  void add(NodeStates& owner, const MemoryUse& use, const std::vector<WrittenPass>& passes) {
    Memory& memory = memories_.emplace_back(Memory{owner, {&use}});
    for (std::size_t k = 1; k < passes.size(); ++k) {
      memory.uses.push_back(find_where(passes[k].pass->memory, [&](const MemoryUse& again) {
        return is_again(passes.front(), use, passes[k], again);
      }));
    }
  }

  // Returns the node that wrote the value that a use found; null if unknown.
  const Memory* find_writer(const MemoryUse& reader) const {
    return find_where(memories_, [&](const Memory& memory) {
      if (memory.node().id != reader.writer->node) return false;
      const MemoryUse* use = memory.uses.at(reader.writer->pass);
      return use != nullptr && use->after && trace::share_elements(use->left, reader.found);
    });
  }

  // Finds the last later node that overwrites this buffer within a tick.
  const Memory* find_last_writer(const Memory& memory) const {
    const MemoryUse& use = memory.first();
    at::Tensor left = use.after ? use.left : use.found;
    const Memory* last = nullptr;
    for (const Memory& other : memories_) {
      const MemoryUse& then = other.first();
      if (&other.owner <= &memory.owner || !then.after) continue;
      if (!trace::share_elements(then.found, left)) continue;
      // A buffer that is replaced is the same one if it has the same name.
      if (memory_of(then.left) != memory_of(left) && then.declared != use.declared) continue;
      left = then.left;
      last = &other;
    }
    return last;
  }

  const Memory* source_of(const Memory& memory) const {
    for (const MemoryUse* use : memory.uses) {
      if (use != nullptr && use->writer) return find_writer(*use);
    }
    // With several passes, one pass would have found the value of another node.
    const bool alone = memory.uses.size() == 1 && !memory.first().let_go;
    return alone ? find_last_writer(memory) : nullptr;
  }

  // The values that later passes found: from the last writer, if it is known, or from the previous
  // pass.
  Persistence persistence_of(const Memory& memory) const {
    Persistence found;
    for (std::size_t k = 1; k < memory.uses.size(); ++k) {
      const MemoryUse* use = memory.uses[k];
      const MemoryUse* left = memory.uses[k - 1];
      const Memory* writer = use != nullptr && use->writer ? find_writer(*use) : nullptr;
      if (writer != nullptr) left = writer->uses[use->writer->pass];
      if (use == nullptr || left == nullptr) continue;
      found.add(use->value_before(), left_for(*use, *left), memory.first().value_before());
    }
    return found;
  }

  State* find_state(const Memory& memory) const {
    return find_where(memory.owner.states, [&](const State& state) {
      const bool is_read = state.slot.before != kNoId || state.origin == Origin::kCarried;
      const VarId var = is_read ? state.slot.before : state.slot.after;
      return var != kNoId && memory.node().passes.front().find_memory(var) == &memory.first();
    });
  }

  // Returns the state in the memory; creates it if there is none.
  std::size_t state_of(const Memory& memory, const Memory* source) {
    std::vector<State>& states = memory.owner.states;
    const State* known = find_state(memory);
    if (known != nullptr) return static_cast<std::size_t>(known - states.data());
    const VarId var = memory.first().var;
    State state = {.origin = Origin::kShared,
                   .slot = {.before = var, .after = memory.first().after ? var : kNoId}};
    for (std::size_t k = 0; k < memory.uses.size(); ++k) {
      const MemoryUse* use = memory.uses[k];
      // If the memory is new in every pass, it contains the source's value.
      for (const MemoryUse& other : memory.node().passes[k].memory) {
        if (use != nullptr || source == nullptr) break;
        if (other.writer && find_writer(other) == source) use = &other;
      }
      state.per_pass.push_back(use == nullptr ? State::Values{} : values_of(*use));
    }
    states.push_back(std::move(state));
    return states.size() - 1;
  }

  // Gives a node the value that another node leaves in shared memory.
  void feed(const Memory& memory, Findings& findings) {
    const Node& reader = memory.node();
    const Memory* source = source_of(memory);
    if (source == nullptr || &source->owner == &memory.owner) return;
    if (persistence_of(memory).is_set_anew()) {
      if (State* state = find_state(memory)) start_anew(memory.owner, *state);
      return;
    }
    const Node& from = source->node();
    if (!trace::same_type(memory.first().found, source->first().left)) {
      findings.push_back(
          warning(Code::kSharedShape, reader.passes.front().opened_at, reader.name,
                  "node '" + reader.name + "' reads memory that node '" + from.name +
                      "' writes, with a different shape. Its current value is exported as a "
                      "constant. Pass it through annotate.input_tensors()."));
      return;
    }
    const std::size_t read = state_of(memory, source);
    const std::size_t written = state_of(*source, nullptr);
    memory.owner.states[read].fed_by = State::Feed{from.id, {}, written};
    // A loop may observe once more than it acts.
    if (std::abs(from.completed - reader.completed) <= 1) return;
    findings.push_back(finding(
        Code::kRates, LogLevel::kError, trace::resolve_source(reader.passes.front().opened_at),
        reader.name,
        "node '" + reader.name + "' reads memory that node '" + from.name + "' writes, but " +
            counts_of(reader, from) +
            ". The passes do not show how often each of them runs. Trace more ticks, or state the "
            "schedule with leapp.start(schedule=..)."));
  }

  // Decides about memory that a node writes for others and that no other node writes: state if the
  // node finds its own value, and a constant initial value if the memory is reset.
  void decide(const Memory& memory, Findings& findings) {
    const Node& node = memory.node();
    State* state = find_state(memory);
    if (state == nullptr || state->origin != Origin::kShared) return;
    if (state->fed_by || !state->slot.is_left()) return;
    const Persistence found = persistence_of(memory);
    if (found.is_set_anew() || is_scratch(node, state->slot.before))
      start_anew(memory.owner, *state);
    if (!found.strange) return;
    findings.push_back(warning(
        Code::kForeignWrite, node.passes.front().opened_at, node.name,
        "node '" + node.name + "' writes to memory that another node reads" + kForeignWriteText));
  }

  std::vector<NodeStates> nodes_;
  std::vector<Memory> memories_;  // in the order of the nodes
};

}  // namespace

std::vector<NodeStates> find_shared(std::vector<NodeStates> nodes,
                                    const std::vector<std::vector<WrittenPass>>& written,
                                    Findings& findings) {
  return Sharing(std::move(nodes), written).run(findings);
}

}  // namespace leapp::state
