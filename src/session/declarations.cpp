// Session's half that takes declarations: a node's inputs, its states, its buffers.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/alias.h>

#include <algorithm>

#include "bundle/port_rules.h"
#include "session/front_end.h"
#include "session/hooks.h"
#include "session/live.h"

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
void check_name(const LiveNode& node, const std::string& name) {
  if (!node.pass.has(name)) return;
  refuse(Code::kDuplicateName, "Duplicate i/o name '" + name + "' in node '" + node.name +
                                   "': it was given in this pass already. Names must be unique "
                                   "within a node; a pass ends with annotate.output_tensors().");
}

// The node of that name, made where there is none.
LiveNode& node_called(Live& live, const std::string& name) {
  if (LiveNode* known = live.find(name)) return *known;
  if (const std::string fault = find_node_name_fault(name); !fault.empty()) {
    refuse(Code::kBadName, "no node can have that name: " + fault);
  }
  LiveNode& node = live.nodes.emplace_back();
  node.name = name;
  node.id = static_cast<NodeId>(live.nodes.size()) - 1;
  node.traced = std::ranges::count(live.options().non_traced, name) == 0;
  return node;
}

// A line that names an input again begins the next pass: an exception left the last one, say. From
// another line it would be one name twice. Returns whether a pass is under way after all.
bool is_under_way(Live& live, const std::string& name, const NamedTensors& tensors,
                  trace::FrameRef frame) {
  LiveNode* node = live.find(name);
  if (node == nullptr || !node->pass.open) return false;
  const auto& places = node->pass.places;
  const bool again = std::ranges::any_of(tensors, [&](const TensorSemantics& entry) {
    const auto place = places.find(entry.name);
    return place != places.end() && place->second == frame;
  });
  if (!again || node->pass.thread != std::this_thread::get_id()) return true;
  live.warn(Code::kIncomplete, name,
            "pass " + std::to_string(node->completed + 1) + " of node '" + name +
                "' was begun here before and never completed, so it counts for nothing. Where an "
                "exception may leave a node, call annotate.abandon('" +
                name + "').",
            frame);
  live.drop_pass(*node);
  return false;
}

at::Tensor add_input(Live& live, LiveNode& node, const TensorSemantics& entry,
                     trace::FrameRef frame) {
  NodePort port = describe(entry);
  check_name(node, entry.name);
  NodePort* known = &port;
  if (node.complete()) known = &live.check_reentry(node, node.inputs, port, "input", frame);
  live.connect(node, *known, entry.ref, frame);
  if (!node.complete()) {
    known = &node.inputs.emplace_back(std::move(port));
    node.declared.push_back(entry.ref);
  }
  at::Tensor handle = handle_for(entry.ref);
  // Later passes may name them in another order.
  const auto index = static_cast<std::size_t>(known - node.inputs.data());
  Pass& made = node.pass.made;
  made.inputs.resize(node.inputs.size());
  made.recording.inputs.resize(node.inputs.size());
  // Of a pass that is not recorded nothing is kept, unless it is the only one.
  if (node.pass.recorded || !node.complete()) made.inputs[index] = trace::copy_of(entry.ref);
  made.recording.inputs[index] = {
      entry.name, node.pass.recorded ? live.tape->add_input(handle, node.id) : kNoId};
  if (!node.pass.recorded && live.tags.find(entry.ref)) {
    live.taken_in.insert_or_assign(handle.unsafeGetTensorImpl(), node.pass.inside);
    node.pass.handles.push_back(handle);
  }
  node.pass.places[entry.name] = frame;
  return handle;
}

std::vector<at::Tensor> add_states(Live& live, LiveNode& node, const NamedTensors& tensors,
                                   trace::FrameRef frame) {
  std::vector<at::Tensor> handles;
  for (const TensorSemantics& entry : tensors) {
    NodePort port = describe(entry);
    check_name(node, entry.name);
    if (node.complete()) {
      live.check_reentry(node, node.states, port, "state", frame);
    } else {
      node.states.push_back(std::move(port));
      node.declared.push_back(entry.ref);
    }
    at::Tensor handle = handle_for(entry.ref);
    const VarId before = node.pass.recorded ? live.tape->add_input(handle, node.id) : kNoId;
    node.pass.made.states.push_back(
        {.name = entry.name, .before = before, .initial = trace::copy_of(entry.ref)});
    handles.push_back(std::move(handle));
  }
  return handles;
}

void set_state(Live& live, LiveNode& node, const TensorSemantics& entry) {
  Declared* state = find_in(node.pass.made.states, entry.name, &Declared::name);
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
  if (!node.complete()) node.declared.push_back(entry.ref);
  // The value counts as it is now, whatever is written to the tensor later.
  if (node.pass.recorded) state->after = live.tape->add_snapshot(entry.ref, node.id);
}

std::vector<at::Tensor> add_buffers(Live& live, LiveNode& node, const NamedTensors& buffers,
                                    const std::function<std::vector<at::Tensor>()>& current) {
  if (!node.pass.recorded) return refs_of(buffers);
  auto& declared = node.pass.made.buffers;
  if (current) node.pass.asked.push_back({declared.size(), buffers.size(), current});
  for (const TensorSemantics& entry : buffers) {
    describe(entry);
    if (!node.complete()) node.declared.push_back(entry.ref);
    VarId before = live.tape->use(entry.ref);
    // Made after the node was opened: from here on it counts as having been there before.
    if (live.tape->variable(before).origin == trace::Variable::Origin::kResult) {
      before = live.tape->add_outside(entry.ref);
    }
    live.tape->variable(before).node = node.id;
    declared.push_back({.name = entry.name, .before = before, .updated = entry.ref});
  }
  return refs_of(buffers);
}

// Runs an annotation: a shadow run is told of it, or the session does its `work`. With neither, the
// tensors go back as they came.
template <typename Work>
std::vector<at::Tensor> annotated(const std::source_location& where,
                                  void (Shadowing::*tell)(const std::string&, const NamedTensors&),
                                  const std::string& node, const NamedTensors& tensors,
                                  Work&& work) {
  if (!is_traced_here(where, [&](Shadowing& shadow) { (shadow.*tell)(node, tensors); })) {
    return refs_of(tensors);
  }
  const trace::FrameRef frame = trace::capture_source();
  return locked(frame, [&](Live& live) { return work(live, frame); });
}

}  // namespace

bool OpenPass::has(const std::string& name) const {
  return std::ranges::count(made.recording.inputs, name, &trace::Recording::Port::name) > 0 ||
         std::ranges::count(made.states, name, &Declared::name) > 0;
}

NodePort& Live::check_reentry(const LiveNode& node, std::vector<NodePort>& ports,
                              const NodePort& port, const char* side, trace::FrameRef frame) {
  NodePort* known = find_in(ports, port.name, &NodePort::name);
  const bool found = known != nullptr;
  if (!found || known->dtype != port.dtype || known->shape != port.shape) {
    std::string text = std::string(side) + " " + describe(port) + ", but the first pass had ";
    text += found ? describe(*known) : "only";
    for (const NodePort& each : ports) text += found ? "" : " " + describe(each);
    refuse_new_signature(node, text + ". Use another node name for another signature.");
  }
  if (port.semantics != Semantics{} && port.semantics != known->semantics) {
    warn(Code::kLaterPassIgnored, node.name,
         std::string(side) + " '" + port.name + "' of node '" + node.name +
             "' has another kind, element names or extra keys than in the first pass: the bundle "
             "has those of the first pass",
         frame);
  }
  return *known;
}

std::vector<at::Tensor> Live::add_inputs(const std::string& name, const NamedTensors& tensors,
                                         trace::FrameRef frame) {
  LiveNode& node = node_called(*this, name);
  const bool begun = !node.pass.open;
  if (begun) begin_pass(node, frame);
  check_thread(node);
  trace::set_observer(this);  // this thread may be new to the session
  std::vector<at::Tensor> handles;
  try {
    for (const TensorSemantics& entry : tensors) {
      handles.push_back(add_input(*this, node, entry, frame));
    }
  } catch (...) {
    if (begun) drop_pass(node);
    if (begun && !node.complete() && &node == &nodes.back()) {
      nodes.pop_back();  // a call that failed leaves no node behind
    }
    throw;
  }
  return handles;
}

}  // namespace leapp::session

namespace leapp::annotate {

using session::hooks;
using session::Live;
using session::Shadowing;

std::vector<at::Tensor> input_tensors(const std::string& node, const NamedTensors& tensors,
                                      std::source_location where) {
  int begun = 0;
  const auto work = [&](Live& live, trace::FrameRef frame) {
    const bool was_open = session::is_under_way(live, node, tensors, frame);
    auto added = live.add_inputs(node, tensors, frame);
    if (!was_open) begun = live.find(node)->completed + 1;
    return added;
  };
  auto handles = session::annotated(where, &Shadowing::inputs, node, tensors, work);
  const bool watched = begun == 1 || begun == 2;
  if (watched && hooks().opened && hooks().opened(node, begun)) front_end::await_ends();
  return handles;
}

std::vector<at::Tensor> state_tensors(const std::string& node, const NamedTensors& tensors,
                                      std::source_location where) {
  return session::annotated(where, &Shadowing::states, node, tensors, [&](Live& live, auto frame) {
    return session::add_states(live, live.open_node(node, "state_tensors"), tensors, frame);
  });
}

std::vector<at::Tensor> update_state(const std::string& node, const NamedTensors& tensors,
                                     std::source_location where) {
  return session::annotated(where, &Shadowing::updates, node, tensors, [&](Live& live, auto) {
    session::LiveNode& open = live.open_node(node, "update_state");
    for (const TensorSemantics& entry : tensors) session::set_state(live, open, entry);
    return session::refs_of(tensors);
  });
}

void module(const std::string& node, const NamedTensors& buffers,
            std::function<std::vector<at::Tensor>()> current, std::source_location where) {
  session::annotated(where, &Shadowing::states, node, buffers, [&](Live& live, auto) {
    return session::add_buffers(live, live.open_node(node, "module"), buffers, current);
  });
}

std::vector<at::Tensor> register_buffer(const std::string& node, const NamedTensors& buffers,
                                        std::source_location where) {
  return session::annotated(where, &Shadowing::states, node, buffers, [&](Live& live, auto) {
    return session::add_buffers(live, live.open_node(node, "register_buffer"), buffers, {});
  });
}

}  // namespace leapp::annotate
