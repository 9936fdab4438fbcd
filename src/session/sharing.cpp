#include "session/sharing.h"

#include <algorithm>
#include <set>

#include "session/session_lock.h"

namespace leapp::session {
namespace {

using Kind = trace::StateCandidate::Kind;

const c10::StorageImpl* memory_of(const at::Tensor& tensor) {
  return tensor.defined() && tensor.has_storage() ? tensor.storage().unsafeGetStorageImpl()
                                                  : nullptr;
}

bool same_geometry(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes();
}

// The use in another pass of what `use` is in the first.
MemoryUse* counterpart(Sample& sample, const MemoryUse& use) {
  for (MemoryUse& other : sample.memory) {
    const bool same = use.state.empty() ? memory_of(other.found) == memory_of(use.found)
                                        : other.state == use.state;
    if (same) return &other;
  }
  return nullptr;
}

class Sharing {
 public:
  explicit Sharing(const std::vector<Node*>& nodes);

  std::vector<SharedState> run(std::vector<std::string>& warnings);

 private:
  struct Source {
    Node* node = nullptr;
    std::size_t use = 0;  // index into its first sample's memory

    bool operator==(const Source&) const = default;
  };
  struct Pair {
    Source to;
    Source from;
  };

  Node* node_called(NodeId id) const;
  std::optional<Source> source_of(Node& node, const MemoryUse& use) const;
  std::optional<Source> resolve(const MemoryUse::Writer& writer, const at::Tensor& found) const;
  void close_chains(std::vector<Pair>& pairs) const;
  std::size_t candidate_for(Node& node, std::size_t use, Kind kind,
                            const std::optional<Source>& source = std::nullopt);
  void complete_slice(Node& node);

  const std::vector<Node*>& nodes_;
  std::map<const c10::StorageImpl*, Source> last_writers_;  // of a first pass over all nodes
};

Sharing::Sharing(const std::vector<Node*>& nodes) : nodes_(nodes) {
  for (Node* node : nodes) {
    const auto& memory = node->samples.front().memory;
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (memory[i].after) last_writers_[memory_of(memory[i].left)] = {node, i};
    }
  }
}

Node* Sharing::node_called(NodeId id) const {
  for (Node* node : nodes_) {
    if (node->id == id) return node;
  }
  return nullptr;
}

// The writer's use, in its first sample, that left `found` behind in the given one.
std::optional<Sharing::Source> Sharing::resolve(const MemoryUse::Writer& writer,
                                                const at::Tensor& found) const {
  Node* node = node_called(writer.node);
  if (node == nullptr) return std::nullopt;
  const auto& first = node->samples.front().memory;
  for (const MemoryUse& use : node->samples.at(writer.sample).memory) {
    if (!use.after || memory_of(use.left) != memory_of(found)) continue;
    for (std::size_t i = 0; i < first.size(); ++i) {
      const bool same = use.state.empty() ? memory_of(first[i].left) == memory_of(found)
                                          : first[i].state == use.state;
      if (same) return Source{node, i};
    }
  }
  return std::nullopt;
}

std::optional<Sharing::Source> Sharing::source_of(Node& node, const MemoryUse& use) const {
  if (use.writer) return resolve(*use.writer, use.found);
  for (std::size_t k = 1; k < node.samples.size(); ++k) {
    const MemoryUse* again = counterpart(node.samples[k], use);
    if (again != nullptr && again->writer) return resolve(*again->writer, again->found);
  }
  if (node.samples.size() > 1) return std::nullopt;
  const auto last = last_writers_.find(memory_of(use.found));
  return last == last_writers_.end() ? std::nullopt : std::optional(last->second);
}

// The candidate that the use is, made when there is none.
std::size_t Sharing::candidate_for(Node& node, std::size_t index, Kind kind,
                                   const std::optional<Source>& source) {
  const MemoryUse use = node.samples.front().memory[index];
  auto& states = node.recording.states;
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states[i].name == use.state) return i;
  }
  std::string name;
  const auto taken = [&] {
    return std::any_of(states.begin(), states.end(),
                       [&](const trace::StateCandidate& state) { return state.name == name; });
  };
  for (std::size_t n = states.size(); name.empty() || taken(); ++n) {
    name = "state_" + std::to_string(n);
  }
  states.push_back({kind, name, use.var, use.left.defined() ? use.var : kNobody});
  for (Sample& sample : node.samples) {
    MemoryUse* now = counterpart(sample, use);
    for (MemoryUse& other : sample.memory) {
      // A state that is made anew in every pass: known by who left it there.
      if (now != nullptr || !source || !other.writer) continue;
      if (resolve(*other.writer, other.found) == source) now = &other;
    }
    if (now == nullptr) continue;
    const at::Tensor before = copy_of(now->before->content(now->found));
    sample.states_before[name] = before;
    sample.states_after[name] = now->after ? copy_of(now->after->content(now->left)) : before;
    now->state = name;
  }
  return states.size() - 1;
}

// More is needed than before; and what that depends on may be state in turn.
void Sharing::complete_slice(Node& node) {
  const trace::Tape& tape = *node.recording.tape;
  for (bool again = true; again;) {
    again = false;
    node.recording.calls = trace::slice(tape, trace::roots_of(node.recording));
    std::set<trace::StoreId> touched;
    for (const std::int32_t index : node.recording.calls) {
      trace::for_each_variable(tape, tape.calls()[static_cast<std::size_t>(index)],
                               [&](VarId var) { touched.insert(tape.variable(var).store); });
    }
    const auto& memory = node.samples.front().memory;
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (!memory[i].state.empty() || !memory[i].after) continue;
      if (touched.count(tape.variable(memory[i].var).store) == 0) continue;
      candidate_for(node, i, Kind::kFound);
      again = true;
    }
  }
}

// A buffer of a module that one node replaces and a later one replaces again: the first finds in
// the next tick what the last one left. Two passes show it; after a single one its name does.
void Sharing::close_chains(std::vector<Pair>& pairs) const {
  const auto feeds = [&](const Source& use) {
    return std::find_if(pairs.begin(), pairs.end(), [&](const Pair& p) { return p.to == use; });
  };
  const auto at = [](const Source& source) -> const MemoryUse& {
    return source.node->samples.front().memory[source.use];
  };
  std::vector<Pair> closing;
  for (const Pair& pair : pairs) {
    Source first = pair.from;
    if (first.node->samples.size() > 1 || feeds(first) != pairs.end()) continue;
    Source last = first;
    for (bool further = true; further;) {
      further = false;
      for (const Pair& next : pairs) {
        if (next.from != last || !at(next.to).after || at(next.to).state != at(last).state)
          continue;
        last = next.to;
        further = true;
        break;
      }
    }
    if (last != first && !at(first).state.empty()) closing.push_back({first, last});
  }
  for (const Pair& pair : closing) {
    if (feeds(pair.to) == pairs.end()) pairs.push_back(pair);
  }
}

std::vector<SharedState> Sharing::run(std::vector<std::string>& warnings) {
  std::vector<Pair> pairs;
  for (Node* node : nodes_) {
    const auto& memory = node->samples.front().memory;
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const MemoryUse& use = memory[i];
      if (!use.before) continue;  // an input that the user declared
      const auto source = source_of(*node, use);
      if (!source || source->node == node) continue;
      const MemoryUse& left = source->node->samples.front().memory[source->use];
      if (!same_geometry(use.found, left.left)) {
        warnings.push_back("node '" + node->name + "' reads memory that node '" +
                           source->node->name +
                           "' writes, in another shape: its present value is exported as a "
                           "constant. Pass it through annotate.input_tensors().");
        continue;
      }
      pairs.push_back({{node, i}, *source});
    }
  }
  close_chains(pairs);
  std::vector<SharedState> shared;
  std::set<Node*> grown;
  for (const auto& [to, from] : pairs) {
    const std::size_t to_state = candidate_for(*to.node, to.use, Kind::kShared, from);
    const std::size_t from_state = candidate_for(*from.node, from.use, Kind::kShared);
    to.node->recording.states[to_state].fed = true;
    shared.push_back({to.node, to_state, from.node, from_state});
    grown.insert({to.node, from.node});
  }
  for (Node* node : nodes_) {
    const auto& states = node->recording.states;
    if (std::any_of(states.begin(), states.end(),
                    [](const auto& state) { return state.kind == Kind::kCarried; })) {
      grown.insert(node);
    }
  }
  for (Node* node : grown) complete_slice(*node);
  return shared;
}

}  // namespace

std::vector<SharedState> find_shared_states(const std::vector<Node*>& nodes,
                                            std::vector<std::string>& warnings) {
  return Sharing(nodes).run(warnings);
}

}  // namespace leapp::session
