// Session's half that closes a pass.
#include <algorithm>

#include "base/check.h"
#include "session/backend.h"
#include "session/hooks.h"
#include "session/session.h"
#include "session/session_internal.h"

namespace leapp::session {
namespace {

bool was_updated(const Pass& pass, const std::string& name) {
  return std::any_of(pass.states.begin(), pass.states.end(), [&](const DeclaredState& state) {
    return state.name == name && state.updated.defined();
  });
}

// Every port of the first pass is there again, and no other.
void check_ports_again(const LiveNode& node, std::size_t outputs) {
  if (outputs != node.outputs.size()) {
    throw PlacedError{Code::kNewSignature, "Reentering " + node.name +
                                               " with new i/o: " + std::to_string(outputs) +
                                               " outputs, but the first pass had " +
                                               std::to_string(node.outputs.size())};
  }
  for (const NodePort& port : node.inputs) {
    if (node.pass.input_values.count(port.name) > 0) continue;
    throw PlacedError{Code::kNewSignature, "Reentering " + node.name + " with new i/o: input '" +
                                               port.name +
                                               "' was given in the first pass and is missing now"};
  }
  for (const NodePort& state : node.states) {
    if (node.pass.has_input_or_state(state.name)) continue;
    throw PlacedError{Code::kNewSignature,
                      "Reentering " + node.name + " with new i/o: state '" + state.name +
                          "' was declared in the first pass and is missing now"};
  }
  for (const DeclaredState& state : node.pass.states) {
    if (state.updated.defined() == was_updated(node.passes.front(), state.name)) continue;
    const char* what = state.updated.defined() ? "is updated now, but was not in the first pass"
                                               : "was updated in the first pass and is not now";
    throw PlacedError{Code::kNewSignature,
                      "Reentering " + node.name + " with new i/o: state '" + state.name + "' " +
                          what + ". Call annotate.update_state() in every pass or in none."};
  }
}

// A node may have state alone, or write what others read; but then it does something.
void check_any_effect(const LiveNode& node, const Pass& pass) {
  const auto writes = [](const MemoryUse& use) { return use.after || !use.declared.empty(); };
  if (!node.outputs.empty() || std::any_of(pass.memory.begin(), pass.memory.end(), writes)) return;
  throw PlacedError{Code::kNothingToExport,
                    "output_tensors() of node '" + node.name +
                        "' names no output, and the node keeps no state: there is nothing to "
                        "export. Name at least one output."};
}

// Outputs that depend on no input may depend on state that only later passes show: the front end
// may know.
bool are_kept(const NamedTensors& tensors, const std::vector<std::size_t>& independent) {
  std::vector<at::Tensor> asked;
  for (const std::size_t i : independent) asked.push_back(tensors[i].ref);
  return hooks().keeps(asked);
}

// Of a node without a model nothing is compared, but what feeds back into it has a first value.
Pass unrecorded(const LiveNode& node, const NamedTensors& tensors, const OutputOptions& options) {
  Pass pass;
  pass.opened_at = node.pass.opened_at;
  pass.between = node.pass.between;
  pass.states = node.pass.states;
  for (const NodePort& port : node.inputs) {
    pass.recording.inputs.push_back({port.name});
    pass.inputs.push_back(node.pass.input_values.at(port.name));
  }
  for (const DeclaredState& state : node.pass.states) {
    if (state.updated.defined()) continue;
    pass.recording.inputs.push_back({state.name});
    pass.inputs.push_back(state.initial);
  }
  for (const auto* outputs : {&tensors, &options.static_outputs}) {
    for (const TensorSemantics& entry : *outputs) pass.outputs.push_back(trace::copy_of(entry.ref));
  }
  return pass;
}

}  // namespace

std::vector<at::Tensor> Session::output_tensors(const std::string& name,
                                                const NamedTensors& tensors,
                                                const OutputOptions& options) {
  if (!active()) return refs_of(tensors);
  const trace::FrameRef frame = trace::capture_source();
  // What is asked runs Python, so it happens while the lock is not held.
  std::vector<std::function<std::vector<at::Tensor>()>> ask;
  std::vector<std::size_t> independent;
  locked(frame, [&] {
    const LiveNode& node = open_node(name, "output_tensors");
    for (const OpenPass::BufferGroup& group : node.pass.buffers) ask.push_back(group.current);
    if (hooks().keeps) independent = independent_outputs(node, tensors);
  });
  Current current;
  for (const auto& group : ask) current.push_back(group ? group() : std::vector<at::Tensor>());
  const bool kept = !independent.empty() && are_kept(tensors, independent);
  const int pass = locked(frame, [&] {
    LiveNode& node = open_node(name, "output_tensors");
    for (const std::size_t i : independent) {
      if (kept) node.undecided.insert(tensors[i].name);
    }
    complete(node, tensors, options, current, frame);
    return node.completed;
  });
  if (is_watched(pass) && hooks().closed) hooks().closed(name, pass);
  return refs_of(tensors);
}

// The outputs that no node computed and that depend on no state.
std::vector<std::size_t> Session::independent_outputs(const LiveNode& node,
                                                      const NamedTensors& tensors) {
  std::vector<std::size_t> found;
  if (!node.pass.recorded) return found;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const at::Tensor& tensor = tensors[i].ref;
    if (!tensor.defined() || trace::is_wrapped(tensor)) continue;
    const auto known = tape_->find(tensor);
    if (known && tape_->variable(*known).node != kNobody) continue;
    const auto tag = tags_.find(tensor);
    if (tag && tag->node != node.id) continue;
    if (node.undecided.count(tensors[i].name) > 0) continue;
    if (!depends_on_state(node, tape_->use(tensor))) found.push_back(i);
  }
  return found;
}

// Whether a value depends on memory from outside that the pass wrote to: a clock, say.
bool Session::depends_on_state(const LiveNode& node, VarId var) const {
  return trace::depends_on(*tape_, var, [&](VarId id) {
    const trace::StoreId store = tape_->variable(id).store;
    if (store == kNobody || !tape_->store(store).capture || tape_->store(store).fresh) return false;
    const VarId root = tape_->store(store).variables.front();
    return tape_->variable(root).origin == trace::Variable::Origin::kOutside &&
           tape_->written_since(id, node.pass.first_call);
  });
}

void Session::declare_outputs(LiveNode& node, const NamedTensors& tensors,
                              const OutputOptions& options) {
  std::vector<NodePort> ports;
  const auto add = [&](const TensorSemantics& entry, bool is_static) {
    NodePort port = describe(entry);
    port.is_static = is_static;
    for (const NodePort& other : ports) {
      if (other.name != port.name) continue;
      throw PlacedError{Code::kDuplicateName, "Duplicate i/o name '" + port.name +
                                                  "' among the outputs of node '" + node.name +
                                                  "'. Names must be unique within a node."};
    }
    for (const NodePort& state : node.states) {
      if (state.name != port.name) continue;
      throw PlacedError{Code::kDuplicateName,
                        "Duplicate i/o name '" + port.name + "': node '" + node.name +
                            "' has a state of that name. Give the output another one."};
    }
    ports.push_back(std::move(port));
  };
  for (const TensorSemantics& entry : tensors) add(entry, false);
  for (const TensorSemantics& entry : options.static_outputs) add(entry, true);
  node.outputs = std::move(ports);
}

void Session::check_outputs_again(const LiveNode& node, const NamedTensors& tensors,
                                  const OutputOptions& options, trace::FrameRef frame) {
  const std::size_t count = tensors.size() + options.static_outputs.size();
  const auto check = [&](const TensorSemantics& entry) {
    check_reentry(node, node.outputs, describe(entry), "output", frame);
  };
  for (const TensorSemantics& entry : tensors) check(entry);
  for (const TensorSemantics& entry : options.static_outputs) check(entry);
  if (options.export_with != node.export_with) {
    const auto quoted = [](const std::optional<std::string>& backend) {
      return backend ? "'" + *backend + "'" : std::string("None");
    };
    warn(Code::kLaterPassIgnored, node.name,
         "node '" + node.name + "' is exported with " + quoted(node.export_with) +
             ", as its first pass said: export_with=" + quoted(options.export_with) +
             " of a later pass changes nothing",
         frame);
  }
  if (options.backend_params != node.backend_params) {
    warn(Code::kLaterPassIgnored, node.name,
         "the backend_params of node '" + node.name +
             "' are those of its first pass: others in a later pass change nothing",
         frame);
  }
  check_ports_again(node, count);
}

void Session::complete(LiveNode& node, const NamedTensors& tensors, const OutputOptions& options,
                       const Current& current, trace::FrameRef frame) {
  const bool first = !node.complete();
  for (const TensorSemantics& entry : options.static_outputs) {
    if (!tape_ || !entry.ref.defined()) continue;
    const auto var = tape_->find(entry.ref);
    if (!var || tape_->variable(*var).node == kNobody) continue;
    throw PlacedError{Code::kStaticIsTraced,
                      "static output '" + entry.name + "' of node '" + node.name +
                          "' depends on traced tensors. Static outputs should be constant tensors; "
                          "pass it among the ordinary outputs."};
  }
  if (first) {
    try {
      check_backend_params(parse_backend(options.export_with), options.backend_params);
    } catch (const Error& error) {
      throw PlacedError{error.code(), "node '" + node.name + "': " + error.text()};
    }
    declare_outputs(node, tensors, options);
  } else {
    check_outputs_again(node, tensors, options, frame);
  }
  if (node.pass.recorded) {
    Pass pass = record(node, tensors, options, current);
    pass.closed_at = frame;
    if (sizes_vary_) warn_of_dynamic_ports(node, pass, frame);
    if (first) check_any_effect(node, pass);
    node.passes.push_back(std::move(pass));
    note_writers(node);
  } else if (first) {
    node.passes.push_back(unrecorded(node, tensors, options));
  }
  if (first) {
    node.export_with = options.export_with;
    node.backend_params = options.backend_params;
    node.completion = 0;
    for (const LiveNode& other : nodes_) node.completion += other.complete() ? 1 : 0;
    remark("Node '" + node.name + "' completed");
  }
  for (NodePort& port : node.inputs) {
    if (port.read) port.age.add(*port.read);
  }
  tag_outputs(node, tensors, options);
  ++node.completed;
  end_pass(node);
}

}  // namespace leapp::session
