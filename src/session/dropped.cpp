#include "session/dropped.h"

#include <algorithm>
#include <map>
#include <set>

namespace leapp::session {
namespace {

bool was_traced_once(const Node* node) {
  return node->samples.size() == 1;
}

// The tensor objects of ours that keep each piece of memory alive.
std::map<const c10::StorageImpl*, std::set<const c10::TensorImpl*>> own_holders(
    const std::vector<Node*>& nodes) {
  std::map<const c10::StorageImpl*, std::set<const c10::TensorImpl*>> holders;
  const auto hold = [&](const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.has_storage()) return;
    holders[tensor.storage().unsafeGetStorageImpl()].insert(tensor.unsafeGetTensorImpl());
  };
  for (const Node* node : nodes) {
    const trace::Tape& tape = *node->recording.tape;
    for (VarId id = 0; id < static_cast<VarId>(tape.variable_count()); ++id) {
      hold(tape.variable(id).held);
    }
    for (const Sample& sample : node->samples) {
      for (const MemoryUse& use : sample.memory) {
        hold(use.found);
        hold(use.left);
        if (use.before) hold(use.before->live());
        if (use.after) hold(use.after->live());
      }
    }
  }
  return holders;
}

const trace::Call* first_reader(const Node& node, trace::StoreId store) {
  const trace::Tape& tape = *node.recording.tape;
  for (const std::int32_t index : node.recording.calls) {
    const trace::Call& call = tape.calls()[static_cast<std::size_t>(index)];
    bool reads = false;
    trace::for_each_variable(tape, call,
                             [&](VarId var) { reads |= tape.variable(var).store == store; });
    if (reads) return &call;
  }
  return nullptr;
}

// Whether the program still holds a value of the pass that could have taken the tensor's place.
bool has_successor(const Node& node, const at::Tensor& dropped) {
  const trace::Tape& tape = *node.recording.tape;
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

}  // namespace

std::vector<std::string> describe_dropped(const std::vector<Node*>& nodes) {
  std::vector<std::string> sentences;
  if (std::none_of(nodes.begin(), nodes.end(), was_traced_once)) return sentences;
  const auto holders = own_holders(nodes);
  for (const Node* node : nodes) {
    if (!was_traced_once(node)) continue;
    for (const MemoryUse& use : node->samples.front().memory) {
      if (!use.state.empty() || use.left.defined() || !use.before || !use.found.has_storage()) {
        continue;
      }
      const c10::Storage& storage = use.found.storage();
      // Constants of NumPy's are wrapped in tensors that live for one operation.
      if (storage.allocator() == nullptr) continue;
      const auto& ours = holders.at(storage.unsafeGetStorageImpl());
      if (storage.use_count() > ours.size() || !has_successor(*node, use.found)) continue;
      const trace::Call* reader =
          first_reader(*node, node->recording.tape->variable(use.var).store);
      if (reader == nullptr) continue;
      sentences.push_back(
          trace::line_prefix(reader->frame) + "node '" + node->name + "' reads a tensor of shape " +
          c10::str(use.found.sizes()) +
          " that the program has let go of since: its value is exported as a constant. If it is "
          "replaced in every tick, it is state: declare it with annotate.state_tensors() or "
          "annotate.module(), or trace a second pass to find out.");
    }
  }
  return sentences;
}

}  // namespace leapp::session
