#include "state/shared.h"

#include <algorithm>
#include <map>

#include "trace/constant.h"

namespace leapp::state {
namespace {

using session::MemoryUse;
using trace::memory_of;
using Origin = State::Origin;

// A node's memory in its first pass, by position.
struct Use {
  std::size_t node = 0;   // among the nodes
  std::size_t index = 0;  // into the memory of its first pass

  bool operator==(const Use&) const = default;
};

// The value of one use comes from another.
struct Pair {
  Use to;
  Use from;
};

class Sharing {
 public:
  Sharing(std::vector<NodeStates> nodes, const std::vector<std::vector<WrittenPass>>& written);

  std::vector<NodeStates> run(Findings& findings) &&;

 private:
  const Node& node_at(std::size_t node) const { return *nodes_[node].node; }
  const std::vector<MemoryUse>& memory_at(std::size_t node) const {
    return node_at(node).passes.front().memory;
  }
  const MemoryUse& use_at(const Use& use) const { return memory_at(use.node)[use.index]; }

  std::optional<std::size_t> state_of(const Use& use) const;
  std::optional<std::size_t> first_of(std::size_t node, std::size_t pass,
                                      const MemoryUse& use) const;
  std::optional<Use> source_of(const Use& use) const;
  std::optional<Use> resolve(const MemoryUse::Writer& writer, const at::Tensor& found) const;
  std::vector<Pair> find_pairs(Findings& findings) const;
  void close_chains(std::vector<Pair>& pairs) const;
  std::size_t shared_state(const Use& use, const std::optional<Use>& source);
  const MemoryUse* counterpart(const Use& use, const Pass& pass, std::size_t number,
                               const std::optional<Use>& source) const;

  std::vector<NodeStates> nodes_;
  const std::vector<std::vector<WrittenPass>>& written_;  // by node, then by pass
  std::map<const c10::StorageImpl*, Use> last_writers_;   // of a first pass over all nodes
};

Sharing::Sharing(std::vector<NodeStates> nodes,
                 const std::vector<std::vector<WrittenPass>>& written)
    : nodes_(std::move(nodes)), written_(written) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (std::size_t k = 0; k < memory_at(i).size(); ++k) {
      if (memory_at(i)[k].after) last_writers_[memory_of(memory_at(i)[k].left)] = {i, k};
    }
  }
}

// The state that a use is.
std::optional<std::size_t> Sharing::state_of(const Use& use) const {
  const std::vector<State>& states = nodes_[use.node].states;
  const Pass& pass = node_at(use.node).passes.front();
  for (std::size_t i = 0; i < states.size(); ++i) {
    const VarId before = states[i].slot.before;
    if (before != kNobody && pass.find_memory(before) == &use_at(use)) return i;
  }
  return std::nullopt;
}

// Which use of the first pass the use of another one is: by the name it was declared with, by its
// place among what the pass writes, or by its memory.
std::optional<std::size_t> Sharing::first_of(std::size_t node, std::size_t pass,
                                             const MemoryUse& use) const {
  const std::vector<MemoryUse>& first = memory_at(node);
  const auto written_uses = [&](std::size_t number) {
    std::vector<const MemoryUse*> uses;
    for (const State& state : written_[node][number].states) {
      if (state.origin != Origin::kWritten) continue;
      uses.push_back(node_at(node).passes[number].find_memory(state.slot.before));
    }
    return uses;
  };
  const std::vector<const MemoryUse*> here = written_uses(pass);
  const auto place = std::ranges::find(here, &use);
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!use.declared.empty() || !first[i].declared.empty()) {
      if (first[i].declared == use.declared) return i;
    } else if (place != here.end()) {
      const std::vector<const MemoryUse*> there = written_uses(0);
      const auto ordinal = static_cast<std::size_t>(place - here.begin());
      if (ordinal < there.size() && there[ordinal] == &first[i]) return i;
    } else if (memory_of(first[i].found) == memory_of(use.found)) {
      return i;
    }
  }
  return std::nullopt;
}

// The writer's use, in its first pass, that left `found` behind in the given one.
std::optional<Use> Sharing::resolve(const MemoryUse::Writer& writer,
                                    const at::Tensor& found) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (node_at(i).id != writer.node) continue;
    for (const MemoryUse& use : node_at(i).passes.at(writer.pass).memory) {
      if (!use.after || memory_of(use.left) != memory_of(found)) continue;
      if (const auto index = first_of(i, writer.pass, use)) return Use{i, *index};
    }
  }
  return std::nullopt;
}

std::optional<Use> Sharing::source_of(const Use& use) const {
  const MemoryUse& first = use_at(use);
  if (first.writer) return resolve(*first.writer, first.found);
  const std::vector<Pass>& passes = node_at(use.node).passes;
  for (std::size_t k = 1; k < passes.size(); ++k) {
    for (const MemoryUse& again : passes[k].memory) {
      if (first_of(use.node, k, again) != use.index) continue;
      if (again.writer) return resolve(*again.writer, again.found);
      break;
    }
  }
  if (passes.size() > 1) return std::nullopt;
  const auto last = last_writers_.find(memory_of(first.found));
  return last == last_writers_.end() ? std::nullopt : std::optional(last->second);
}

std::vector<Pair> Sharing::find_pairs(Findings& findings) const {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].base != 0) continue;  // it uses no memory of others
    for (std::size_t k = 0; k < memory_at(i).size(); ++k) {
      const MemoryUse& use = memory_at(i)[k];
      if (!use.before) continue;  // an input that the user declared
      const auto source = source_of({i, k});
      if (!source || source->node == i) continue;
      if (trace::same_type(use.found, use_at(*source).left)) {
        pairs.push_back({{i, k}, *source});
        continue;
      }
      findings.push_back(warning(
          Code::kSharedShape, node_at(i).passes.front().opened_at, node_at(i).name,
          "node '" + node_at(i).name + "' reads memory that node '" + node_at(source->node).name +
              "' writes, in another shape: its present value is exported as a constant. Pass it "
              "through annotate.input_tensors()."));
    }
  }
  return pairs;
}

// A buffer of a module that one node replaces and a later one replaces again: the first finds in
// the next tick what the last one left. Two passes show it; after a single one its name does.
void Sharing::close_chains(std::vector<Pair>& pairs) const {
  const auto is_fed = [&](const Use& use) {
    return std::ranges::find(pairs, use, &Pair::to) != pairs.end();
  };
  std::vector<Pair> closing;
  for (const Pair& pair : pairs) {
    const Use first = pair.from;
    if (node_at(first.node).passes.size() > 1 || is_fed(first)) continue;
    Use last = first;
    for (bool further = true; further;) {
      const auto next = std::ranges::find_if(pairs, [&](const Pair& p) {
        return p.from == last && use_at(p.to).after &&
               use_at(p.to).declared == use_at(last).declared;
      });
      further = next != pairs.end();
      if (further) last = next->to;
    }
    if (last != first && !use_at(first).declared.empty()) closing.push_back({first, last});
  }
  for (const Pair& pair : closing) {
    if (!is_fed(pair.to)) pairs.push_back(pair);
  }
}

// What another pass has where the first has the use: the same memory, or, where that is made anew
// in every pass, what the source left.
const MemoryUse* Sharing::counterpart(const Use& use, const Pass& pass, std::size_t number,
                                      const std::optional<Use>& source) const {
  for (const MemoryUse& other : pass.memory) {
    if (first_of(use.node, number, other) == use.index) return &other;
  }
  for (const MemoryUse& other : pass.memory) {
    if (source && other.writer && resolve(*other.writer, other.found) == source) return &other;
  }
  return nullptr;
}

// The state that the use is, made when there is none.
std::size_t Sharing::shared_state(const Use& use, const std::optional<Use>& source) {
  if (const auto known = state_of(use)) return *known;
  const MemoryUse& first = use_at(use);
  State state = {
      .origin = Origin::kShared,
      .slot = {.before = first.var, .after = first.left.defined() ? first.var : kNobody}};
  const std::vector<Pass>& passes = node_at(use.node).passes;
  for (std::size_t k = 0; k < passes.size(); ++k) {
    const MemoryUse* now = counterpart(use, passes[k], k, source);
    state.per_pass.push_back(
        now == nullptr ? State::Values{} : State::Values{now->value_before(), now->value_after()});
  }
  nodes_[use.node].states.push_back(std::move(state));
  return nodes_[use.node].states.size() - 1;
}

std::vector<NodeStates> Sharing::run(Findings& findings) && {
  std::vector<Pair> pairs = find_pairs(findings);
  close_chains(pairs);
  for (const auto& [to, from] : pairs) {
    const std::size_t to_state = shared_state(to, from);
    const std::size_t from_state = shared_state(from, std::nullopt);
    nodes_[to.node].states[to_state].fed_by = State::Feed{node_at(from.node).id, {}, from_state};
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
