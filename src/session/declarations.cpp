// Session's half that takes declarations: a node's inputs, its states, its buffers.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/alias.h>

#include <algorithm>

#include "base/check.h"
#include "interop/convert.h"
#include "session/hooks.h"
#include "session/session.h"
#include "session/session_internal.h"

namespace leapp::session {
namespace {

// The tensor handed to the user: another object over the same memory, so that the node can be told
// by it, with the autograd history of the original.
at::Tensor handle_for(const at::Tensor& tensor) {
  const trace::Unobserved guard;
  const bool differentiable = tensor.requires_grad() && at::GradMode::is_enabled();
  return differentiable ? at::alias(tensor) : trace::alias_of(tensor);
}

// Names must be unique within a node.
void check_name(const LiveNode& node, const std::string& name, trace::FrameRef frame) {
  if (!node.pass.has_input_or_state(name)) return;
  throw PlacedError{Code::kDuplicateName,
                    "Duplicate i/o name '" + name + "' in node '" + node.name +
                        "': it was given in this pass already. Names must be unique within a "
                        "node; a pass ends with annotate.output_tensors().",
                    frame};
}

}  // namespace

bool OpenPass::has_input_or_state(const std::string& name) const {
  return input_values.count(name) > 0 ||
         std::any_of(states.begin(), states.end(),
                     [&](const DeclaredState& state) { return state.name == name; });
}

void Session::check_reentry(const LiveNode& node, const std::vector<NodePort>& ports,
                            const NodePort& port, const char* side, trace::FrameRef frame) {
  const NodePort* known = find_port(ports, port.name);
  if (known != nullptr && known->dtype == port.dtype && known->shape == port.shape) {
    if (port.semantics == Semantics{} || port.semantics == known->semantics) return;
    warn(Code::kLaterPassIgnored, node.name,
         std::string(side) + " '" + port.name + "' of node '" + node.name +
             "' has another kind, element names or extra keys than in the first pass: the "
             "bundle has those of the first pass",
         frame);
    return;
  }
  std::string text = "Reentering " + node.name + " with new i/o: " + side + " " + describe(port) +
                     ", but the first pass had ";
  if (known != nullptr) {
    text += describe(*known);
  } else {
    text += "only";
    for (const NodePort& each : ports) text.append(" ").append(describe(each));
  }
  throw PlacedError{Code::kNewSignature, text + ". Use another node name for another signature."};
}

std::vector<at::Tensor> Session::input_tensors(const std::string& name,
                                               const NamedTensors& tensors) {
  if (!active()) return refs_of(tensors);
  const trace::FrameRef frame = trace::capture_source();
  int begun = 0;
  auto handles = locked(frame, [&] {
    drop_unfinished(name, tensors, frame);
    const LiveNode* before = find(name);
    const bool was_open = before != nullptr && before->pass.open;
    auto added = add_inputs(name, tensors, frame);
    if (!was_open) begun = find(name)->completed + 1;
    return added;
  });
  if (is_watched(begun) && hooks().opened) hooks().opened(name, begun);
  return handles;
}

// A line that names an input again begins the next pass: an exception left the last one, say. From
// another line it would be one name twice.
void Session::drop_unfinished(const std::string& name, const NamedTensors& tensors,
                              trace::FrameRef frame) {
  LiveNode* node = find(name);
  if (node == nullptr || !node->pass.open || node->pass.thread != std::this_thread::get_id())
    return;
  const auto& places = node->pass.input_places;
  const bool again = std::any_of(tensors.begin(), tensors.end(), [&](const TensorSemantics& entry) {
    const auto place = places.find(entry.name);
    return place != places.end() && place->second == frame;
  });
  if (!again) return;
  warn(Code::kIncomplete, name,
       "pass " + std::to_string(node->completed + 1) + " of node '" + name +
           "' was begun here before and never completed, so it counts for nothing. Where an "
           "exception may leave a node, call annotate.abandon('" +
           name + "').",
       frame);
  drop_pass(*node);
}

std::vector<at::Tensor> Session::add_inputs(const std::string& name, const NamedTensors& tensors,
                                            trace::FrameRef frame) {
  const LiveNode* before = find(name);
  const bool was_open = before != nullptr && before->pass.open;
  LiveNode& node = enter_pass(name);
  if (!was_open) node.pass.opened_at = frame;
  std::vector<at::Tensor> handles;
  try {
    for (const TensorSemantics& entry : tensors) handles.push_back(add_input(node, entry, frame));
  } catch (...) {
    if (!was_open) end_pass(node);
    if (!was_open && node.completed == 0 && node.id == static_cast<NodeId>(nodes_.size()) - 1) {
      nodes_.pop_back();  // a call that failed leaves no node behind
    }
    throw;
  }
  return handles;
}

at::Tensor Session::add_input(LiveNode& node, const TensorSemantics& entry, trace::FrameRef frame) {
  NodePort port = describe(entry);
  check_name(node, entry.name, frame);
  NodePort* known = &port;
  if (node.complete()) {
    check_reentry(node, node.inputs, port, "input", frame);
    known = &*std::find_if(node.inputs.begin(), node.inputs.end(),
                           [&](const NodePort& p) { return p.name == port.name; });
  }
  connect(node, *known, entry.ref, frame);
  if (!node.complete()) {
    node.inputs.push_back(std::move(port));
    node.declared.push_back(entry.ref);
  }
  at::Tensor handle = handle_for(entry.ref);
  node.pass.input_values[entry.name] = trace::copy_of(entry.ref);
  node.pass.input_places[entry.name] = frame;
  if (node.pass.recorded) node.pass.inputs[entry.name] = tape_->add_input(handle, node.id);
  return handle;
}

std::vector<at::Tensor> Session::state_tensors(const std::string& name,
                                               const NamedTensors& tensors) {
  if (!active()) return refs_of(tensors);
  const trace::FrameRef frame = trace::capture_source();
  return locked(frame, [&] { return add_states(name, tensors, frame); });
}

std::vector<at::Tensor> Session::add_states(const std::string& name, const NamedTensors& tensors,
                                            trace::FrameRef frame) {
  LiveNode& node = open_node(name, "state_tensors");
  std::vector<at::Tensor> handles;
  for (const TensorSemantics& entry : tensors) {
    NodePort port = describe(entry);
    check_name(node, entry.name, frame);
    if (node.complete()) {
      check_reentry(node, node.states, port, "state", frame);
    } else {
      node.states.push_back(std::move(port));
      node.declared.push_back(entry.ref);
    }
    at::Tensor handle = handle_for(entry.ref);
    DeclaredState state;
    state.name = entry.name;
    state.initial = trace::copy_of(entry.ref);
    if (node.pass.recorded) state.before = tape_->add_input(handle, node.id);
    node.pass.states.push_back(std::move(state));
    handles.push_back(std::move(handle));
  }
  return handles;
}

std::vector<at::Tensor> Session::update_state(const std::string& name,
                                              const NamedTensors& tensors) {
  if (!active()) return refs_of(tensors);
  locked(trace::capture_source(), [&] {
    LiveNode& node = open_node(name, "update_state");
    for (const TensorSemantics& entry : tensors) set_state(node, entry);
  });
  return refs_of(tensors);
}

void Session::set_state(LiveNode& node, const TensorSemantics& entry) {
  const auto state = std::find_if(node.pass.states.begin(), node.pass.states.end(),
                                  [&](const DeclaredState& s) { return s.name == entry.name; });
  const std::string subject = "update_state() of node '" + node.name + "': '" + entry.name + "'";
  if (state == node.pass.states.end()) {
    throw PlacedError{Code::kUnknownState,
                      subject +
                          " was not registered as a state tensor. Declare it with "
                          "annotate.state_tensors() in the same pass."};
  }
  const NodePort port = describe(entry);
  if (entry.ref.sizes() != state->initial.sizes()) {
    throw PlacedError{Code::kStateMismatch, subject + " has shape " + to_string(port.shape) +
                                                ", but the state was declared with " +
                                                to_string(state->initial.sizes().vec())};
  }
  if (entry.ref.scalar_type() != state->initial.scalar_type()) {
    const DType declared = interop::to_dtype(state->initial.scalar_type());
    throw PlacedError{Code::kStateMismatch,
                      subject + " has dtype " + std::string(name_of(port.dtype)) +
                          ", but the state was declared with " + std::string(name_of(declared))};
  }
  state->updated = trace::copy_of(entry.ref);
  if (!node.complete()) node.declared.push_back(entry.ref);
  if (!node.pass.recorded) return;
  // The value counts as it is now, whatever is written to the tensor later.
  state->after = tape_->add_snapshot(entry.ref, node.id);
}

void Session::module(const std::string& name, const NamedTensors& buffers,
                     std::function<std::vector<at::Tensor>()> current) {
  if (!active()) return;
  const trace::FrameRef frame = trace::capture_source();
  locked(frame, [&] { add_buffers(name, buffers, std::move(current), "module"); });
}

std::vector<at::Tensor> Session::register_buffer(const std::string& name,
                                                 const NamedTensors& buffers) {
  if (!active()) return refs_of(buffers);
  const trace::FrameRef frame = trace::capture_source();
  locked(frame, [&] { add_buffers(name, buffers, nullptr, "register_buffer"); });
  return refs_of(buffers);
}

void Session::add_buffers(const std::string& name, const NamedTensors& buffers,
                          std::function<std::vector<at::Tensor>()> current, const char* call) {
  LiveNode& node = open_node(name, call);
  if (!node.pass.recorded) return;
  OpenPass::BufferGroup group;
  group.current = std::move(current);
  for (const TensorSemantics& entry : buffers) {
    describe(entry);
    if (!node.complete()) node.declared.push_back(entry.ref);
    DeclaredBuffer buffer;
    buffer.name = entry.name;
    buffer.before = tape_->use(entry.ref);
    // Made after the node was opened: from here on it counts as having been there before.
    if (tape_->variable(buffer.before).origin == trace::Variable::Origin::kResult) {
      buffer.before = tape_->add_outside(entry.ref);
    }
    tape_->variable(buffer.before).node = node.id;
    group.buffers.push_back(std::move(buffer));
    group.tensors.push_back(entry.ref);
  }
  node.pass.buffers.push_back(std::move(group));
}

}  // namespace leapp::session
