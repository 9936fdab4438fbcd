#include "session/pass_builder.h"

#include <algorithm>

#include "session/between_nodes.h"
#include "session/passes.h"
#include "session/placed_error.h"

namespace leapp::session {
namespace {

// Returns whether a tensor depends on an array that no recorded call computed.
bool depends_on_foreign(const OpenTape& tape, const at::Tensor& tensor) {
  if (tape.baked.empty()) return false;
  return trace::depends_on(*tape, tape->use(tensor), [&](VarId id) {
    const auto baked = tape.baked.find(id);
    return baked != tape.baked.end() && baked->second.foreign;
  });
}

VarId output_variable(SessionData& data, SessionNode& node, const TensorSemantics& entry) {
  const auto known = data.tape->find(entry.ref);
  const NodeId owner = known ? data.tape->variable(*known).node : kNoId;
  if (owner == node.id) return *known;
  const auto tag = data.tags.find(entry.ref);
  const NodeId other = owner != kNoId ? owner : (tag ? tag->node : kNoId);
  if (other != kNoId && other != node.id) {
    refuse(Code::kMixedNodes,
           "outputs of node '" + node.name + "' belong to a different node: '" + entry.name +
               "' was computed in '" + data.nodes.at(other).name +
               "'. Pass it to this node through annotate.input_tensors() first.");
  }
  // compile_graph() refuses what other code computed; only the first passes look for it.
  if (node.foreign.contains(entry.name) || depends_on_foreign(data.tape, entry.ref)) {
    node.foreign.insert(entry.name);
    return data.tape->use(entry.ref);
  }
  // The result of an operator can be followed from pass to pass.
  if (node.undecided.count(entry.name) > 0) return data.tape->add_snapshot(entry.ref, node.id);
  const VarId var = known ? *known : data.tape->use(entry.ref);
  if (!depends_on_state(data.tape, node, var)) {
    const char* now_and_then =
        " In the first pass it did. A queue of actions is exported if the passes that take one "
        "from "
        "it compute nothing from their inputs. Otherwise compute the chunk in a node of its own, "
        "or "
        "keep it and a counter in tensors and select with torch.where().";
    refuse(Code::kNotTraced,
           not_traced_text(node.name, entry.name) + (node.complete() ? now_and_then : ""));
  }
  return var;
}

void record_buffers(trace::Tape& tape, Pass& pass) {
  for (Declared& buffer : pass.buffers) {
    const VarId now = tape.use(buffer.updated);
    const bool changed = now != buffer.before || pass.writes(buffer.before);
    if (changed) buffer.after = now;
    buffer.updated = changed ? trace::alias_of(buffer.updated) : at::Tensor();
  }
}

// Records the external memory that the pass used: it may contain state, or be shared with other
// nodes.
void record_memory(SessionData& data, const SessionNode& node,
                   const std::vector<std::int32_t>& calls, Pass& pass) {
  const trace::Tape& tape = *data.tape;
  std::vector<bool> seen(tape.store_count(), false);
  const auto add = [&](VarId var, const std::string& declared, const at::Tensor& left) {
    MemoryUse use = {.declared = declared, .var = var, .found = tape.variable(var).held};
    const trace::StoreId store = tape.variable(var).store;
    if (store != kNoId) {
      use.before = tape.store(store).capture;
      seen[static_cast<std::size_t>(store)] = true;
    }
    const auto* creation = data.memory.find_creation(use.found);
    if (creation != nullptr && creation->copy_of) use.copy_of = creation->copy_of->lock();
    if (left.defined()) use.left = trace::alias_of(left);
    if (left.defined() && left.has_storage()) use.after = data.captures.capture(use.left);
    if (const auto* writer = use.before ? data.memory.find_writer(use.found) : nullptr)
      use.writer = *writer;
    pass.memory.push_back(std::move(use));
  };
  for (const std::vector<Declared>* declared : {&pass.states, &pass.buffers}) {
    for (const Declared& each : *declared) {
      if (each.after != kNoId) add(each.before, each.name, each.updated);
    }
  }
  const auto add_found = [&](VarId var) {
    const VarId root = trace::root_outside(tape, var);
    if (root == kNoId || seen[static_cast<std::size_t>(tape.variable(root).store)]) return;
    const trace::Store& store = tape.store(tape.variable(root).store);
    const at::Tensor& held = tape.variable(root).held;
    const bool written = store.last_write >= pass.recording.first_call &&
                         (store.node == node.id || store.node == kNoId);
    // A node that runs later may write memory that a first pass only reads; in later passes, its
    // writer is known.
    if (node.complete() && !written && data.memory.find_writer(held) == nullptr) return;
    add(root, "", written ? held : at::Tensor());
  };
  for (const std::int32_t index : calls) {
    trace::for_each_variable(tape, tape.call(index), add_found);
  }
}

// Describes an external tensor and its variables in earlier passes.
OutsideRead outside_read(SessionData& data, const SessionNode& node, VarId var) {
  OutsideRead read;
  read.var = var;
  trace::Variable& variable = data.tape->variable(var);
  auto object = variable.impl.lock();
  const at::Tensor tensor = object ? at::Tensor(std::move(object)) : variable.held;
  // Its value is needed if the program may have released it.
  if (!variable.held.defined() && tensor.defined()) variable.held = trace::alias_of(tensor);
  TagRef tag = data.tags.find(tensor);
  if (tag && tag->dtype == tensor.scalar_type()) {
    tag = with_shape_of(tensor, tag, node.pass.record.opened_at);
    if (tag->exact()) read.source = PortId{tag->node, tag->port};
    if (tag->call) {
      read.between = std::make_shared<const Between>(
          make_between(data.nodes, "", *tag, node.pass.record.opened_at));
    }
    read.source_pass = tag->pass;
  }
  const auto baked = data.tape.baked.find(var);
  if (baked != data.tape.baked.end()) read.from = baked->second.source.node;
  if (const auto* writer = data.memory.find_writer(tensor)) read.writer = *writer;
  const auto* creation = data.memory.find_creation(tensor);
  read.made_since = creation != nullptr && !node.passes.empty() &&
                    creation->recorded_passes >= node.passes.back().number;
  for (const Pass& former : node.passes) {
    read.known.push_back(former.recording.tape->match(variable.impl._unsafe_get_target(), tensor));
  }
  return read;
}

void record_outside(SessionData& data, const SessionNode& node,
                    const std::vector<std::int32_t>& calls, Pass& pass) {
  trace::Tape& tape = *data.tape;
  std::vector<bool> seen(tape.variable_count(), false);
  for (const std::int32_t index : calls) {
    trace::for_each_variable(tape, tape.call(index), [&](VarId var) {
      if (seen[static_cast<std::size_t>(var)] || !trace::is_from_outside(tape, var)) return;
      seen[static_cast<std::size_t>(var)] = true;
      pass.outside.push_back(outside_read(data, node, var));
    });
    trace::for_each_result(tape, tape.call(index), [&](VarId var) {
      if (var != kNoId) tape.variable(var).survives = !tape.variable(var).impl.expired();
    });
  }
  std::ranges::sort(pass.outside, {}, &OutsideRead::var);
}

}  // namespace

Pass build_pass(SessionData& data, SessionNode& node, const NamedTensors& tensors,
                const OutputOptions& options) {
  const bool recorded = node.pass.recorded;
  Pass pass = node.pass.record;
  for (const TensorSemantics& entry : tensors) {
    if (recorded) {
      pass.recording.outputs.push_back({entry.name, output_variable(data, node, entry)});
    }
    pass.outputs.push_back(trace::copy_of(entry.ref));
  }
  for (const TensorSemantics& entry : options.static_outputs) {
    pass.outputs.push_back(trace::copy_of(entry.ref));
    pass.recording.static_outputs.push_back({entry.name, pass.outputs.back()});
  }
  for (const Declared& state : pass.states) {
    if (state.updated.defined()) continue;  // never updated: an ordinary input
    pass.recording.inputs.push_back({state.name, state.before});
    pass.inputs.push_back(state.initial);
  }
  if (!recorded) return pass;
  pass.number = ++data.recorded_passes;
  record_buffers(*data.tape, pass);
  pass.recording.end_call = data.tape->call_count();
  const std::vector<std::int32_t> calls = trace::own_calls(pass.recording, node.id);
  record_memory(data, node, calls, pass);
  record_outside(data, node, calls, pass);
  for (const auto& [var, value] : data.tape.baked) pass.baked.push_back(value);
  return pass;
}

}  // namespace leapp::session
