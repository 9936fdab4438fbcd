// Session's half that writes down what a pass did.
#include <algorithm>

#include "session/session.h"
#include "session/session_internal.h"
#include "session/sizes.h"

namespace leapp::session {
namespace {

at::Tensor tensor_of(const trace::Variable& variable) {
  if (auto impl = variable.impl.lock()) return at::Tensor(std::move(impl));
  return variable.held;
}

// Visits the calls of a pass, those of other nodes left out.
template <typename Visit>
void for_each_call(trace::Tape& tape, NodeId node, std::int32_t begin, Visit&& visit) {
  const auto end = static_cast<std::int32_t>(tape.calls().size());
  for (std::int32_t i = begin; i < end; ++i) {
    const trace::Call& call = tape.calls()[static_cast<std::size_t>(i)];
    if (call.node == kNobody || call.node == node) visit(call);
  }
}

}  // namespace

VarId Session::output_variable(LiveNode& node, const TensorSemantics& entry) {
  const auto known = tape_->find(entry.ref);
  const NodeId owner = known ? tape_->variable(*known).node : kNobody;
  if (owner == node.id) return *known;
  const auto tag = tags_.find(entry.ref);
  const NodeId other = owner != kNobody ? owner : (tag ? tag->node : kNobody);
  if (other != kNobody && other != node.id) {
    throw PlacedError{Code::kMixedNodes,
                      "outputs of node '" + node.name + "' belong to a different node: '" +
                          entry.name + "' was computed in '" + node_at(other).name +
                          "'. Pass it to this node through annotate.input_tensors() first."};
  }
  // An operator reads it, so that it can be followed from pass to pass.
  if (node.undecided.count(entry.name) > 0) return tape_->add_snapshot(entry.ref, node.id);
  const VarId var = known ? *known : tape_->use(entry.ref);
  if (!depends_on_state(node, var)) {
    const char* now_and_then =
        " In the first pass it did. What a program does in some ticks only, such as computing a "
        "chunk of actions that later ones consume, is not exported: compute the chunk in a node "
        "and consume it outside, or keep it and a counter as tensors, chosen by torch.where().";
    throw PlacedError{Code::kNotTraced, not_traced_text(node.name, entry.name) +
                                            (node.completed > 0 ? now_and_then : "")};
  }
  return var;
}

Pass Session::record(LiveNode& node, const NamedTensors& tensors, const OutputOptions& options,
                     const Current& current) {
  Pass pass;
  pass.number = ++passes_;
  pass.opened_at = node.pass.opened_at;
  pass.recording.tape = tape_;
  pass.recording.first_call = node.pass.first_call;
  for (const TensorSemantics& entry : tensors) {
    pass.recording.outputs.push_back({entry.name, output_variable(node, entry)});
    pass.outputs.push_back(trace::copy_of(entry.ref));
  }
  for (const TensorSemantics& entry : options.static_outputs) {
    pass.outputs.push_back(trace::copy_of(entry.ref));
    pass.recording.static_outputs.push_back({entry.name, pass.outputs.back()});
  }
  for (const NodePort& port : node.inputs) {
    pass.recording.inputs.push_back({port.name, node.pass.inputs.at(port.name)});
    pass.inputs.push_back(node.pass.input_values.at(port.name));
  }
  pass.between = std::move(node.pass.between);
  pass.states = node.pass.states;
  for (const DeclaredState& state : pass.states) {
    if (state.after != kNobody) continue;  // never updated: an ordinary input
    pass.recording.inputs.push_back({state.name, state.before});
    pass.inputs.push_back(state.initial);
  }
  for (std::size_t g = 0; g < node.pass.buffers.size(); ++g) {
    OpenPass::BufferGroup& group = node.pass.buffers[g];
    for (std::size_t i = 0; i < group.buffers.size(); ++i) {
      DeclaredBuffer buffer = group.buffers[i];
      if (!current.at(g).empty()) group.tensors[i] = current[g].at(i);
      buffer.after = tape_->use(group.tensors[i]);
      buffer.changed = buffer.after != buffer.before ||
                       tape_->written_since(buffer.before, node.pass.first_call);
      pass.buffers.push_back(std::move(buffer));
    }
  }
  record_memory(node, pass);
  pass.recording.end_call = static_cast<std::int32_t>(tape_->calls().size());
  record_outside(node, pass);
  for (const LiveEscape& live : escapes_) {
    if (live.call >= node.pass.first_call) pass.escapes.push_back(live.escape);
  }
  for (const auto& [var, baked] : baked_) pass.baked.push_back(baked);
  return pass;
}

// Which memory from outside the pass used, so that state in it can be found, and nodes that share
// some can be wired.
void Session::record_memory(const LiveNode& node, Pass& pass) {
  std::vector<bool> seen(tape_->store_count(), false);
  const auto add = [&](VarId var, const std::string& declared, const at::Tensor& left) {
    MemoryUse use;
    use.declared = declared;
    use.var = var;
    use.found = tape_->variable(var).held;
    const trace::StoreId store = tape_->variable(var).store;
    if (store != kNobody) {
      use.before = tape_->store(store).capture;
      seen[static_cast<std::size_t>(store)] = true;
    }
    if (left.defined()) use.left = trace::alias_of(left);
    if (left.defined() && left.has_storage()) use.after = captures_.capture(use.left);
    if (const auto* writer = use.before ? writer_of(use.found) : nullptr) use.writer = *writer;
    pass.memory.push_back(std::move(use));
  };
  for (const DeclaredState& state : pass.states) {
    if (state.after != kNobody) add(state.before, state.name, state.updated);
  }
  std::size_t next = 0;
  for (const OpenPass::BufferGroup& group : node.pass.buffers) {
    for (const at::Tensor& tensor : group.tensors) {
      const DeclaredBuffer& buffer = pass.buffers[next++];
      if (buffer.changed) add(buffer.before, buffer.name, tensor);
    }
  }
  const std::int32_t first = node.pass.first_call;
  const auto add_store = [&](trace::StoreId id) {
    const trace::Store& store = tape_->store(id);
    if (!store.capture || store.fresh || seen[static_cast<std::size_t>(id)]) return;
    const VarId root = store.variables.front();
    const at::Tensor& held = tape_->variable(root).held;
    if (tape_->variable(root).origin != trace::Variable::Origin::kOutside) return;
    const bool written =
        store.last_write >= first && (store.node == node.id || store.node == kNobody);
    // What a first pass only reads may be written by a node to come; later on its writer is known.
    if (node.complete() && !written && writer_of(held) == nullptr) return;
    add(root, "", written ? held : at::Tensor());
  };
  for_each_call(*tape_, node.id, first, [&](const trace::Call& call) {
    trace::for_each_variable(*tape_, call, [&](VarId var) {
      if (tape_->variable(var).store != kNobody) add_store(tape_->variable(var).store);
    });
  });
}

// Which tensors from outside it read, and what they were in the passes before.
void Session::record_outside(const LiveNode& node, Pass& pass) {
  std::vector<bool> seen(tape_->variable_count(), false);
  for_each_call(*tape_, node.id, node.pass.first_call, [&](const trace::Call& call) {
    trace::for_each_variable(*tape_, call, [&](VarId var) {
      if (seen[static_cast<std::size_t>(var)] || !trace::is_from_outside(*tape_, var)) return;
      seen[static_cast<std::size_t>(var)] = true;
      OutsideRead read;
      read.var = var;
      trace::Variable& variable = tape_->variable(var);
      const at::Tensor tensor = tensor_of(variable);
      // What it holds is asked for when the program may have let go of it.
      if (!variable.held.defined() && tensor.defined()) variable.held = trace::alias_of(tensor);
      if (const auto tag = tags_.find(tensor); tag && tag->exact()) {
        read.source = PortId{tag->node, tag->port};
      }
      const auto baked = baked_.find(var);
      if (baked != baked_.end()) read.from = baked->second.source.node;
      if (const auto* writer = writer_of(tensor)) read.writer = *writer;
      if (const auto made = made_.find(trace::memory_of(tensor)); made != made_.end()) {
        read.made_since = !node.passes.empty() && made->second.after >= node.passes.back().number;
      }
      for (const Pass& former : node.passes) {
        read.known.push_back(
            former.recording.tape->match(variable.impl._unsafe_get_target(), tensor));
      }
      pass.outside.push_back(std::move(read));
    });
    trace::for_each_result(*tape_, call, [&](VarId var) {
      if (var != kNobody) tape_->variable(var).survives = !tape_->variable(var).impl.expired();
    });
  });
  std::sort(pass.outside.begin(), pass.outside.end(),
            [](const OutsideRead& a, const OutsideRead& b) { return a.var < b.var; });
}

void Session::warn_of_dynamic_ports(const LiveNode& node, const Pass& pass, trace::FrameRef frame) {
  const auto look = [&](const char* side, const std::string& name, VarId var) {
    if (var == kNobody || tape_->variable(var).varying == 0) return;
    warn(Code::kDataDependentSize, node.name,
         std::string(side) + " '" + name + "' of node '" + node.name + "'" + kVaryingPort, frame);
  };
  for (const trace::Recording::Port& port : pass.recording.outputs) {
    look("output", port.name, port.var);
  }
  for (const DeclaredState& state : pass.states) look("state", state.name, state.after);
  for (const DeclaredBuffer& buffer : pass.buffers) look("state", buffer.name, buffer.after);
}

void Session::note_writers(const LiveNode& node) {
  for (const MemoryUse& use : node.passes.back().memory) {
    if (!use.after) continue;
    const c10::Storage& storage = use.left.storage();
    writers_.insert_or_assign(
        storage.unsafeGetStorageImpl(),
        Written{c10::weak_intrusive_ptr<c10::StorageImpl>(storage.getWeakStorageImpl()),
                {node.id, node.passes.size() - 1}});
  }
}

const MemoryUse::Writer* Session::writer_of(const at::Tensor& tensor) const {
  const auto it = writers_.find(trace::memory_of(tensor));
  if (it == writers_.end() || it->second.storage.expired()) return nullptr;
  return &it->second.writer;
}

void Session::tag_outputs(const LiveNode& node, const NamedTensors& tensors,
                          const OutputOptions& options) {
  if (tape_) {
    for (VarId id = 0; id < static_cast<VarId>(tape_->variable_count()); ++id) {
      const trace::Variable& variable = tape_->variable(id);
      if (variable.node != node.id || variable.origin != trace::Variable::Origin::kResult) continue;
      if (auto impl = variable.impl.lock()) {
        tags_.set(at::Tensor(std::move(impl)), {node.id, "", {}, node.completed});
      }
    }
  }
  for (const auto* outputs : {&tensors, &options.static_outputs}) {
    for (const TensorSemantics& entry : *outputs) {
      tags_.set(entry.ref, {node.id, entry.name, {}, node.completed});
    }
  }
}

}  // namespace leapp::session
