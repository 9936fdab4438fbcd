// Session's half that takes declarations: a node's inputs, its states, its buffers, and the wires
// that follow from them.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/alias.h>

#include <algorithm>

#include "base/check.h"
#include "interop/convert.h"
#include "session/hooks.h"
#include "session/session.h"
#include "session/session_lock.h"

namespace leapp::session {
namespace {

// The tensor handed to the user: another object over the same memory, so that the node can be told
// by it, with the autograd history of the original.
at::Tensor handle_for(const at::Tensor& tensor) {
  const trace::Unobserved guard;
  const bool differentiable = tensor.requires_grad() && at::GradMode::is_enabled();
  return differentiable ? at::alias(tensor) : trace::alias_of(tensor);
}

std::string describe_port(const NodePort& port) {
  return "'" + port.name + "' " + std::string(name_of(port.dtype)) + " " + to_string(port.shape);
}

}  // namespace

void Session::check_reentry(const Node& node, const std::vector<NodePort>& ports,
                            const NodePort& port, const char* side, trace::FrameRef frame) {
  const auto it = std::find_if(ports.begin(), ports.end(),
                               [&](const NodePort& known) { return known.name == port.name; });
  if (it != ports.end() && it->dtype == port.dtype && it->shape == port.shape) {
    if (port.semantics == Semantics{} || port.semantics == it->semantics) return;
    queue_once(LogLevel::kWarning,
               std::string(side) + " '" + port.name + "' of node '" + node.name +
                   "' has another kind, element names or extra keys than in the first pass: the "
                   "bundle has those of the first pass",
               frame);
    return;
  }
  std::string text = "Reentering " + node.name + " with new i/o: " + side + " " +
                     describe_port(port) + ", but the first pass had ";
  if (it != ports.end()) {
    text += describe_port(*it);
  } else {
    text += "only";
    for (const NodePort& known : ports) text.append(" ").append(describe_port(known));
  }
  throw PlacedError{ErrorKind::kUsage, text + ". Use another node name for another signature.", {}};
}

std::vector<at::Tensor> Session::input_tensors(const std::string& name,
                                               const NamedTensors& tensors) {
  if (!active()) return refs_of(tensors);
  const trace::FrameRef frame = trace::capture_source();
  int begun = 0;
  auto handles = locked(frame, [&] {
    const Node* before = find(name);
    const bool was_open = before != nullptr && before->pass.open;
    auto added = add_inputs(name, tensors, frame);
    if (!was_open) begun = find(name)->passes + 1;
    return added;
  });
  if (is_watched(begun) && hooks().opened) hooks().opened(name, begun);
  return handles;
}

std::vector<at::Tensor> Session::add_inputs(const std::string& name, const NamedTensors& tensors,
                                            trace::FrameRef frame) {
  const Node* before = find(name);
  const bool was_open = before != nullptr && before->pass.open;
  Node& node = enter_pass(name);
  if (!was_open) node.opened_at = frame;
  std::vector<at::Tensor> handles;
  try {
    for (const TensorSemantics& entry : tensors) handles.push_back(add_input(node, entry, frame));
  } catch (...) {
    if (!was_open) end_pass(node);
    if (!was_open && node.passes == 0 && node.id == static_cast<NodeId>(nodes_.size()) - 1) {
      nodes_.pop_back();  // a call that failed leaves no node behind
    }
    throw;
  }
  return handles;
}

at::Tensor Session::add_input(Node& node, const TensorSemantics& entry, trace::FrameRef frame) {
  NodePort port = describe(entry);
  const auto is_state = [&](const Pass::State& state) { return state.name == entry.name; };
  if (node.pass.input_values.count(entry.name) > 0 ||
      std::any_of(node.pass.states.begin(), node.pass.states.end(), is_state)) {
    throw PlacedError{ErrorKind::kUsage,
                      "Duplicate i/o name '" + entry.name + "' in node '" + node.name +
                          "': it was given in this pass already. Names must be unique within a "
                          "node; a pass ends with annotate.output_tensors().",
                      frame};
  }
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
  node.pass.input_values[entry.name] = copy_of(entry.ref);
  if (node.pass.recorded) node.pass.inputs[entry.name] = tape_->add_input(handle, node.id);
  return handle;
}

void Session::connect(Node& node, NodePort& port, const at::Tensor& tensor, trace::FrameRef frame) {
  const auto here = [&] { return node.name + "/" + port.name; };
  const auto tag = tags_.find(tensor);
  std::optional<PortId> source;
  port.read.reset();
  if (tag) {
    const Node& from = nodes_[static_cast<std::size_t>(tag->node)];
    const auto there = [&] { return from.name + "/" + tag->port; };
    const auto out = std::find_if(from.outputs.begin(), from.outputs.end(),
                                  [&](const NodePort& p) { return p.name == tag->port; });
    const bool fits =
        out != from.outputs.end() && out->dtype == port.dtype && out->shape == port.shape;
    if (tag->exact() && fits) {
      source = PortId{tag->node, tag->port};
      port.read = Age::Read{node.passes, tag->pass, from.passes, frame};
    } else if (tag->port.empty()) {
      queue_once(LogLevel::kWarning,
                 here() + " comes from a value computed inside node '" + from.name +
                     "' that is none of its outputs, so nothing connects them. Add it to the "
                     "outputs of '" +
                     from.name + "'.",
                 frame);
    } else if (tag->exact()) {
      queue_once(LogLevel::kWarning,
                 here() + " holds the data of " + there() + " in another shape or type (" +
                     describe_port(*out) + " became " + describe_port(port) +
                     "), so nothing connects them. Reshape inside a node.",
                 frame);
    } else {
      const Detour& detour = tag->detours.front();
      queue_gap(here(), there(), detour, tag->detours.size());
    }
  }
  if (node.passes == 0) {
    port.source = source;
    port.source_pass = source ? 0 : -1;
    return;
  }
  if (source == port.source) return;
  if (source && !port.source) {
    if (port.source_pass < 0) {
      port.source = source;
      port.source_pass = node.passes;
      return;
    }
  }
  // A feedback input may be set by hand again, as at the start of an episode.
  if (!source && port.source_pass > 0) return;
  const auto name_of_source = [&](const std::optional<PortId>& id) {
    return id ? nodes_[static_cast<std::size_t>(id->node)].name + "/" + id->port
              : std::string("outside the graph");
  };
  throw PlacedError{ErrorKind::kUsage,
                    "Reentering " + node.name + " with new i/o: input '" + port.name +
                        "' came from " + name_of_source(port.source) +
                        " before and now comes from " + name_of_source(source) +
                        ". A port has one source.",
                    frame};
}

void Session::queue_gap(const std::string& here, const std::string& there, const Detour& detour,
                        std::size_t count) {
  // The line of the detour, not of the annotation, is what the reader has to look at.
  const std::string key = "gap " + here + " " + there;
  if (!said_.insert({key, {nullptr, 0}}).second) return;
  queue(LogLevel::kWarning,
        here + " comes from " + there + " through " + detour.op +
            (count > 1 ? " and " + std::to_string(count - 1) + " more" : "") +
            ", which is in no node: the exported pipeline will not run it. Move it into a node, "
            "unless it stands for the world around them, a simulator say.",
        detour.frame);
}

std::vector<at::Tensor> Session::state_tensors(const std::string& name,
                                               const NamedTensors& tensors) {
  if (!active()) return refs_of(tensors);
  const trace::FrameRef frame = trace::capture_source();
  return locked(frame, [&] { return add_states(name, tensors, frame); });
}

std::vector<at::Tensor> Session::add_states(const std::string& name, const NamedTensors& tensors,
                                            trace::FrameRef frame) {
  Node& node = open_node(name, "state_tensors");
  std::vector<at::Tensor> handles;
  for (const TensorSemantics& entry : tensors) {
    NodePort port = describe(entry);
    const auto is_state = [&](const Pass::State& state) { return state.name == entry.name; };
    if (node.pass.input_values.count(entry.name) > 0 ||
        std::any_of(node.pass.states.begin(), node.pass.states.end(), is_state)) {
      throw PlacedError{ErrorKind::kUsage,
                        "Duplicate i/o name '" + entry.name + "' in node '" + node.name +
                            "'. Names must be unique within a node.",
                        {}};
    }
    if (node.complete()) {
      check_reentry(node, node.states, port, "state", frame);
    } else {
      node.states.push_back(std::move(port));
      node.declared.push_back(entry.ref);
    }
    at::Tensor handle = handle_for(entry.ref);
    Pass::State state;
    state.name = entry.name;
    state.initial = copy_of(entry.ref);
    if (node.pass.recorded) state.before = tape_->add_input(handle, node.id);
    node.pass.states.push_back(std::move(state));
    handles.push_back(std::move(handle));
  }
  return handles;
}

std::vector<at::Tensor> Session::update_state(const std::string& name,
                                              const NamedTensors& tensors) {
  if (!active()) return refs_of(tensors);
  const trace::FrameRef frame = trace::capture_source();
  return locked(frame, [&] { return set_states(name, tensors); });
}

std::vector<at::Tensor> Session::set_states(const std::string& name, const NamedTensors& tensors) {
  Node& node = open_node(name, "update_state");
  for (const TensorSemantics& entry : tensors) {
    const auto it = std::find_if(node.pass.states.begin(), node.pass.states.end(),
                                 [&](const Pass::State& s) { return s.name == entry.name; });
    const std::string subject = "update_state() of node '" + node.name + "': '" + entry.name + "'";
    if (it == node.pass.states.end()) {
      throw PlacedError{ErrorKind::kUsage,
                        subject +
                            " was not registered as a state tensor. Declare it with "
                            "annotate.state_tensors() in the same pass.",
                        {}};
    }
    const NodePort port = describe(entry);
    if (entry.ref.sizes() != it->initial.sizes()) {
      throw PlacedError{ErrorKind::kUsage,
                        subject + " has shape " + to_string(port.shape) +
                            ", but the state was declared with " +
                            to_string(it->initial.sizes().vec()),
                        {}};
    }
    if (entry.ref.scalar_type() != it->initial.scalar_type()) {
      throw PlacedError{ErrorKind::kUsage,
                        subject + " has dtype " + std::string(name_of(port.dtype)) +
                            ", but the state was declared with " +
                            std::string(name_of(interop::to_dtype(it->initial.scalar_type()))),
                        {}};
    }
    it->updated = copy_of(entry.ref);
    if (!node.complete()) node.declared.push_back(entry.ref);
    if (!node.pass.recorded) continue;
    // The value counts as it is now, whatever is written to the tensor later.
    it->after = tape_->add_snapshot(entry.ref, node.id);
  }
  return refs_of(tensors);
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
  Node& node = open_node(name, call);
  if (!node.pass.recorded) return;
  Pass::BufferGroup group;
  group.current = std::move(current);
  for (const TensorSemantics& entry : buffers) {
    describe(entry);
    if (!node.complete()) node.declared.push_back(entry.ref);
    Pass::Buffer buffer;
    buffer.name = entry.name;
    buffer.tensor = entry.ref;
    buffer.before = tape_->use(entry.ref);
    // Made after the node was opened: from here on it counts as having been there before.
    if (tape_->variable(buffer.before).origin == trace::Variable::Origin::kResult) {
      buffer.before = tape_->add_outside(entry.ref);
    }
    tape_->variable(buffer.before).node = node.id;
    group.buffers.push_back(std::move(buffer));
  }
  node.pass.buffers.push_back(std::move(group));
}

}  // namespace leapp::session
