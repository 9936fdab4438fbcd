#include "state/let_go.h"

#include <algorithm>
#include <map>
#include <set>

namespace leapp::state {
namespace {

using Holders = std::map<const c10::StorageImpl*, std::set<const c10::TensorImpl*>>;

bool was_traced_once(const NodeStates& states) {
  return states.node->passes.size() == 1;
}

// The tensor objects of ours that keep each piece of memory alive.
Holders own_holders(std::span<const NodeStates> nodes) {
  Holders holders;
  const auto hold = [&](const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.has_storage()) return;
    holders[tensor.storage().unsafeGetStorageImpl()].insert(tensor.unsafeGetTensorImpl());
  };
  for (const NodeStates& states : nodes) {
    for (const Pass& pass : states.node->passes) {
      for (VarId id = 0; id < static_cast<VarId>(pass.tape().variable_count()); ++id) {
        hold(pass.tape().variable(id).held);
      }
      for (const session::MemoryUse& use : pass.memory) {
        hold(use.found);
        hold(use.left);
        if (use.before) hold(use.before->live());
        if (use.after) hold(use.after->live());
      }
    }
  }
  return holders;
}

// Where the pass first reads some memory.
std::optional<trace::Site> first_reader(const NodeStates& states, trace::StoreId store) {
  const trace::Tape& tape = states.exported().tape();
  std::optional<trace::Site> found;
  for (const std::int32_t index : recording_of(states).calls) {
    trace::for_each_site(tape, index, [&](const trace::Site& site, VarId var) {
      if (!found && var != kNobody && tape.variable(var).store == store) found = site;
    });
    if (found) break;
  }
  return found;
}

// Whether the program still holds a value of the pass that could have taken the tensor's place.
bool has_successor(const trace::Tape& tape, const at::Tensor& dropped) {
  for (VarId id = 0; id < static_cast<VarId>(tape.variable_count()); ++id) {
    if (tape.variable(id).origin == trace::Variable::Origin::kOutside) continue;
    const auto impl = tape.variable(id).impl.lock();
    if (!impl) continue;
    const at::Tensor value(impl);
    if (value.scalar_type() == dropped.scalar_type() && value.sizes() == dropped.sizes())
      return true;
  }
  return false;
}

bool is_let_go(const NodeStates& states, const session::MemoryUse& use, const Holders& holders) {
  if (!use.declared.empty() || use.left.defined() || !use.before || !use.found.has_storage()) {
    return false;
  }
  const c10::Storage& storage = use.found.storage();
  // Constants of NumPy's are wrapped in tensors that live for one operation.
  if (storage.allocator() == nullptr) return false;
  const auto& ours = holders.at(storage.unsafeGetStorageImpl());
  return storage.use_count() <= ours.size() && has_successor(states.exported().tape(), use.found);
}

}  // namespace

Findings find_let_go(std::span<const NodeStates> nodes, const Paths& paths) {
  Findings findings;
  if (std::none_of(nodes.begin(), nodes.end(), was_traced_once)) return findings;
  const Holders holders = own_holders(nodes);
  for (const NodeStates& states : nodes) {
    if (!was_traced_once(states)) continue;
    const trace::Tape& tape = states.exported().tape();
    for (const session::MemoryUse& use : states.exported().memory) {
      if (!is_let_go(states, use, holders)) continue;
      const auto site = first_reader(states, tape.variable(use.var).store);
      if (!site) continue;
      const trace::Call& reader = tape.calls()[static_cast<std::size_t>(site->call)];
      findings.push_back(warning(
          Code::kLetGo, reader.frame, states.node->name,
          "node '" + states.node->name + "' reads a tensor of shape " +
              c10::str(use.found.sizes()) + describe_argument(tape, *site, paths) +
              " that the program has let go of since: its value is exported as a constant. If it "
              "is replaced in every tick, it is state: declare it with annotate.state_tensors() "
              "or annotate.module(), or trace a second pass to find out.",
          true));
    }
  }
  return findings;
}

}  // namespace leapp::state
