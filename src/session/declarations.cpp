#include "session/declarations.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/alias.h>

#include <algorithm>

#include "base/find.h"
#include "session/passes.h"
#include "session/placed_error.h"
#include "session/ports.h"
#include "session/wiring.h"

namespace leapp::session {
namespace {

// Returns the tensor for the user: another object over the same memory, which identifies the node's
// input, with the autograd history of the original.
at::Tensor handle_for(const at::Tensor& tensor) {
  const trace::Unobserved guard;
  const bool differentiable = tensor.requires_grad() && at::GradMode::is_enabled();
  return differentiable ? at::alias(tensor) : trace::alias_of(tensor);
}

void check_name_is_new(const SessionNode& node, const std::string& name) {
  if (!node.pass.has(name)) return;
  refuse(Code::kDuplicateName, "Duplicate i/o name '" + name + "' in node '" + node.name +
                                   "': it was already used in this pass. Names must be unique "
                                   "within a node; a pass ends with annotate.output_tensors().");
}

SessionNode& find_or_add_node(SessionData& data, const std::string& name) {
  if (SessionNode* known = data.nodes.find(name)) return *known;
  return data.nodes.add(name, std::ranges::count(data.options.non_traced, name) == 0);
}

at::Tensor add_input(SessionData& data, SessionNode& node, const TensorSemantics& entry,
                     trace::FrameRef frame) {
  NodePort port = describe(entry);
  check_name_is_new(node, entry.name);
  NodePort* known = &port;
  if (node.complete()) {
    known = &match_port(node, node.inputs, port, "input", data.messages, frame);
  }
  const NodeRun::Input received = connect(data, node, *known, entry.ref, frame);
  if (!node.complete()) known = &node.inputs.emplace_back(std::move(port));
  at::Tensor handle = handle_for(entry.ref);
  // Later passes may give the inputs in another order.
  const auto index = static_cast<std::size_t>(known - node.inputs.data());
  Pass& record = node.pass.record;
  node.pass.run.inputs.resize(node.inputs.size());
  node.pass.run.inputs[index] = received;
  record.inputs.resize(node.inputs.size());
  record.recording.inputs.resize(node.inputs.size());
  // A pass that is not recorded stores no values, unless it is the only pass.
  if (node.pass.recorded || !node.complete()) record.inputs[index] = trace::copy_of(entry.ref);
  record.recording.inputs[index] = {
      entry.name, node.pass.recorded ? data.tape->add_input(handle, node.id) : kNoId};
  if (!node.pass.recorded && data.tags.find(entry.ref)) {
    data.tags.enter(handle, node.pass.inside);
    node.pass.handles.push_back(handle);
  }
  node.pass.input_places[entry.name] = frame;
  return handle;
}

}  // namespace

AddedInputs add_inputs(SessionData& data, const std::string& name, const NamedTensors& tensors,
                       trace::FrameRef frame) {
  SessionNode& node = find_or_add_node(data, name);
  const bool begun = begin_pass_if_needed(data, node, tensors, frame);
  check_thread(node);
  AddedInputs added;
  try {
    for (const TensorSemantics& entry : tensors) {
      added.handles.push_back(add_input(data, node, entry, frame));
    }
  } catch (...) {
    if (begun) drop_pass(data, node);
    const bool is_last = static_cast<std::size_t>(node.id) + 1 == data.nodes.size();
    if (begun && !node.complete() && is_last) data.nodes.remove_last();
    throw;
  }
  if (begun) added.begun_pass = node.completed + 1;
  return added;
}

std::vector<at::Tensor> add_states(SessionData& data, SessionNode& node,
                                   const NamedTensors& tensors, trace::FrameRef frame) {
  std::vector<at::Tensor> handles;
  for (const TensorSemantics& entry : tensors) {
    NodePort port = describe(entry);
    check_name_is_new(node, entry.name);
    if (node.complete()) {
      match_port(node, node.states, port, "state", data.messages, frame);
    } else {
      node.states.push_back(std::move(port));
    }
    at::Tensor handle = handle_for(entry.ref);
    const VarId before = node.pass.recorded ? data.tape->add_input(handle, node.id) : kNoId;
    node.pass.record.states.push_back(
        {.name = entry.name, .before = before, .initial = trace::copy_of(entry.ref)});
    handles.push_back(std::move(handle));
  }
  return handles;
}

void set_state(SessionData& data, SessionNode& node, const TensorSemantics& entry) {
  Declared* state = find_in(node.pass.record.states, entry.name, &Declared::name);
  const std::string subject = "update_state() of node '" + node.name + "': '" + entry.name + "'";
  if (state == nullptr) {
    refuse(Code::kUnknownState, subject +
                                    " was not registered as a state tensor. Declare it with "
                                    "annotate.state_tensors() in the same pass.");
  }
  const NodePort port = describe(entry);
  const NodePort declared = describe({entry.name, state->initial});
  const bool reshaped = port.shape != declared.shape;
  if (reshaped || port.dtype != declared.dtype) {
    const auto part = [&](const NodePort& of) {
      return reshaped ? "shape " + to_string(of.shape) : "dtype " + std::string(name_of(of.dtype));
    };
    refuse(Code::kStateMismatch,
           subject + " has " + part(port) + ", but the state was declared with " + part(declared));
  }
  state->updated = trace::copy_of(entry.ref);
  // Copies the current value, so later writes to the tensor have no effect.
  if (node.pass.recorded) state->after = data.tape->add_snapshot(entry.ref, node.id);
}

std::vector<at::Tensor> add_buffers(SessionData& data, SessionNode& node,
                                    const NamedTensors& buffers,
                                    const std::function<std::vector<at::Tensor>()>& current) {
  if (!node.pass.recorded) return tensors_of(buffers);
  auto& declared = node.pass.record.buffers;
  if (current) node.pass.buffer_queries.push_back({declared.size(), buffers.size(), current});
  for (const TensorSemantics& entry : buffers) {
    describe(entry);
    VarId before = data.tape->use(entry.ref);
    // A buffer that was created after the node was opened counts as external.
    if (data.tape->variable(before).origin == trace::Variable::Origin::kResult) {
      before = data.tape->add_outside(entry.ref);
    }
    data.tape->variable(before).node = node.id;
    declared.push_back({.name = entry.name, .before = before, .updated = entry.ref});
  }
  return tensors_of(buffers);
}

}  // namespace leapp::session
