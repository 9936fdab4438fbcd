// Session's half that closes a pass: what the node put out, what it changed, what it depends on.
#include <algorithm>

#include "base/check.h"
#include "interop/convert.h"
#include "session/backend.h"
#include "session/hooks.h"
#include "session/session.h"
#include "session/session_lock.h"
#include "session/sizes.h"
#include "trace/purify.h"

namespace leapp::session {
std::vector<at::Tensor> Session::output_tensors(const std::string& name,
                                                const NamedTensors& tensors,
                                                const OutputOptions& options) {
  if (!active()) return refs_of(tensors);
  const trace::FrameRef frame = trace::capture_source();
  const auto node = [&]() -> Node& { return open_node(name, "output_tensors"); };
  // What is asked runs Python, so it happens while the lock is not held.
  std::vector<std::function<std::vector<at::Tensor>()>> ask;
  const bool doubtful = locked(frame, [&] {
    for (const Pass::BufferGroup& group : node().pass.buffers) ask.push_back(group.current);
    return !foreign_outputs(node(), tensors).empty();
  });
  Current current;
  for (const auto& group : ask) current.push_back(group ? group() : std::vector<at::Tensor>());
  if (doubtful && hooks().keeps) {
    const auto independent =
        locked(frame, [&] { return independent_outputs(node(), tensors, current); });
    std::vector<at::Tensor> asked;
    for (const std::size_t i : independent) asked.push_back(tensors[i].ref);
    if (!asked.empty() && hooks().keeps(asked)) {
      locked(frame, [&] {
        for (const std::size_t i : independent) node().undecided.insert(tensors[i].name);
      });
    }
  }
  const int pass = locked(frame, [&] {
    complete(node(), tensors, options, current, frame);
    return find(name)->passes;
  });
  if (is_watched(pass) && hooks().closed) hooks().closed(name, pass);
  return refs_of(tensors);
}

// The outputs that no operator of the node computed and no node put out.
std::vector<std::size_t> Session::foreign_outputs(const Node& node,
                                                  const NamedTensors& tensors) const {
  std::vector<std::size_t> found;
  if (!node.pass.recorded) return found;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const at::Tensor& tensor = tensors[i].ref;
    if (!tensor.defined() || trace::is_wrapped(tensor)) continue;
    const auto known = tape_->find(tensor);
    if (known && tape_->variable(*known).node != kNobody) continue;
    const auto tag = tags_.find(tensor);
    if (tag && tag->node != node.id) continue;
    if (node.undecided.count(tensors[i].name) == 0) found.push_back(i);
  }
  return found;
}

// Those of them that depend on no state either.
std::vector<std::size_t> Session::independent_outputs(const Node& node, const NamedTensors& tensors,
                                                      const Current& current) {
  std::vector<std::size_t> found = foreign_outputs(node, tensors);
  trace::Recording recording;
  Sample sample;
  for (const std::size_t i : found) {
    recording.outputs.push_back({tensors[i].name, tape_->use(tensors[i].ref)});
  }
  find_states(node, current, recording, sample);
  std::size_t port = 0;
  std::erase_if(found, [&](std::size_t) {
    return depends_on_state(recording.outputs[port++].var, recording);
  });
  return found;
}

// An output may depend on nothing but state: a clock, say.
bool Session::depends_on_state(VarId var, const trace::Recording& recording) const {
  return trace::depends_on(*tape_, var, [&](VarId at) {
    return std::any_of(recording.states.begin(), recording.states.end(), [&](const auto& state) {
      const auto store = tape_->variable(state.before).store;
      return at == state.before || (store != kNobody && tape_->variable(at).store == store);
    });
  });
}

void Session::declare_outputs(Node& node, const NamedTensors& tensors,
                              const OutputOptions& options) {
  std::vector<NodePort> ports;
  const auto add = [&](const TensorSemantics& entry, bool is_static) {
    NodePort port = describe(entry);
    port.is_static = is_static;
    for (const NodePort& other : ports) {
      if (other.name != port.name) continue;
      throw PlacedError{ErrorKind::kUsage,
                        "Duplicate i/o name '" + port.name + "' among the outputs of node '" +
                            node.name + "'. Names must be unique within a node.",
                        {}};
    }
    for (const NodePort& state : node.states) {
      if (state.name != port.name) continue;
      throw PlacedError{ErrorKind::kUsage,
                        "Duplicate i/o name '" + port.name + "': node '" + node.name +
                            "' has a state of that name. Give the output another one.",
                        {}};
    }
    ports.push_back(std::move(port));
  };
  for (const TensorSemantics& entry : tensors) add(entry, false);
  for (const TensorSemantics& entry : options.static_outputs) add(entry, true);
  node.outputs = std::move(ports);
}

void Session::check_outputs_again(const Node& node, const NamedTensors& tensors,
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
    queue_once(LogLevel::kWarning,
               "node '" + node.name + "' is exported with " + quoted(node.export_with) +
                   ", as its first pass said: export_with=" + quoted(options.export_with) +
                   " of a later pass changes nothing",
               frame);
  }
  if (options.backend_params != node.backend_params) {
    queue_once(LogLevel::kWarning,
               "the backend_params of node '" + node.name +
                   "' are those of its first pass: others in a later pass change nothing",
               frame);
  }
  if (count != node.outputs.size()) {
    throw PlacedError{ErrorKind::kUsage,
                      "Reentering " + node.name + " with new i/o: " + std::to_string(count) +
                          " outputs, but the first pass had " + std::to_string(node.outputs.size()),
                      {}};
  }
  for (const NodePort& port : node.inputs) {
    if (node.pass.input_values.count(port.name) > 0) continue;
    throw PlacedError{ErrorKind::kUsage,
                      "Reentering " + node.name + " with new i/o: input '" + port.name +
                          "' was given in the first pass and is missing now",
                      {}};
  }
  for (const NodePort& state : node.states) {
    const auto is_it = [&](const Pass::State& given) { return given.name == state.name; };
    if (std::any_of(node.pass.states.begin(), node.pass.states.end(), is_it)) continue;
    throw PlacedError{ErrorKind::kUsage,
                      "Reentering " + node.name + " with new i/o: state '" + state.name +
                          "' was declared in the first pass and is missing now",
                      {}};
  }
  const std::map<std::string, at::Tensor>& updated = node.samples.front().states_after;
  for (const Pass::State& state : node.pass.states) {
    if (state.updated.defined() == (updated.count(state.name) > 0)) continue;
    throw PlacedError{
        ErrorKind::kUsage,
        "Reentering " + node.name + " with new i/o: state '" + state.name + "' " +
            (state.updated.defined() ? "is updated now, but was not in the first pass"
                                     : "was updated in the first pass and is not now") +
            ". Call annotate.update_state() in every pass or in none.",
        {}};
  }
}

void Session::complete(Node& node, const NamedTensors& tensors, const OutputOptions& options,
                       const Current& current, trace::FrameRef frame) {
  const bool first = !node.complete();
  for (const TensorSemantics& entry : options.static_outputs) {
    if (!tape_ || !entry.ref.defined()) continue;
    const auto var = tape_->find(entry.ref);
    if (!var || tape_->variable(*var).node == kNobody) continue;
    throw PlacedError{ErrorKind::kUsage,
                      "static output '" + entry.name + "' of node '" + node.name +
                          "' depends on traced tensors. Static outputs should be constant tensors; "
                          "pass it among the ordinary outputs.",
                      {}};
  }
  if (first) {
    try {
      check_backend_params(parse_backend(options.export_with), options.backend_params);
    } catch (const Error& error) {
      throw PlacedError{error.kind(), "node '" + node.name + "': " + error.what(), {}};
    }
    declare_outputs(node, tensors, options);
  } else {
    check_outputs_again(node, tensors, options, frame);
  }
  if (node.pass.recorded) {
    Sample sample;
    trace::Recording recording = record(node, tensors, options, current, sample);
    if (sizes_vary_) warn_of_varying_ports(node, recording, frame);
    if (first) {
      check_any_effect(node, recording, sample);
      warn_of_escapes(node.carried, recording);
      warn_of_baked_values(node, recording);
      node.recording = std::move(recording);
    } else {
      follow_pass(node, recording);
    }
    node.samples.push_back(std::move(sample));
    note_writers(node);
  } else if (first) {
    node.samples.push_back(unrecorded_sample(node, tensors, options));
  }
  if (first) {
    node.export_with = options.export_with;
    node.backend_params = options.backend_params;
    node.completion = 0;
    for (const Node& other : nodes_) node.completion += other.complete() ? 1 : 0;
    queue(LogLevel::kInfo, "Node '" + node.name + "' completed: " +
                               std::to_string(node.recording.calls.size()) + " operations");
  }
  for (NodePort& port : node.inputs) {
    if (port.read) port.age.add(*port.read);
  }
  tag_outputs(node, tensors, options);
  ++node.passes;
  end_pass(node);
}

void Session::warn_of_varying_ports(const Node& node, const trace::Recording& recording,
                                    trace::FrameRef frame) {
  const auto look = [&](const char* side, const std::string& name, VarId var) {
    if (var == kNobody || tape_->variable(var).varying == 0) return;
    queue_once(LogLevel::kWarning,
               std::string(side) + " '" + name + "' of node '" + node.name + "'" + kVaryingPort,
               frame);
  };
  for (const trace::Recording::Port& port : recording.outputs) look("output", port.name, port.var);
  for (const trace::StateCandidate& state : recording.states)
    look("state", state.name, state.after);
}

// A node may have state alone, or write what others read; but then it does something.
void Session::check_any_effect(const Node& node, const trace::Recording& recording,
                               const Sample& sample) {
  const auto writes = [](const MemoryUse& use) { return use.after != nullptr; };
  if (!node.outputs.empty() || !recording.states.empty() ||
      std::any_of(sample.memory.begin(), sample.memory.end(), writes)) {
    return;
  }
  throw PlacedError{ErrorKind::kValue,
                    "output_tensors() of node '" + node.name +
                        "' names no output, and the node keeps no state: there is nothing to "
                        "export. Name at least one output.",
                    {}};
}

// Of a node without a model nothing is compared, but what feeds back into it has a first value.
Sample Session::unrecorded_sample(const Node& node, const NamedTensors& tensors,
                                  const OutputOptions& options) {
  Sample sample;
  for (const NodePort& port : node.inputs) {
    sample.inputs.push_back(node.pass.input_values.at(port.name));
  }
  for (const Pass::State& state : node.pass.states) {
    if (!state.updated.defined()) {
      sample.inputs.push_back(state.initial);
      continue;
    }
    sample.states_before[state.name] = state.initial;
    sample.states_after[state.name] = state.updated;
  }
  for (const auto* outputs : {&tensors, &options.static_outputs}) {
    for (const TensorSemantics& entry : *outputs) sample.outputs.push_back(copy_of(entry.ref));
  }
  return sample;
}

std::vector<VarId> Session::output_variables(Node& node, const NamedTensors& tensors,
                                             std::vector<std::size_t>& untraced) {
  std::vector<VarId> vars;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const at::Tensor& tensor = tensors[i].ref;
    const auto known = tape_->find(tensor);
    const NodeId owner = known ? tape_->variable(*known).node : kNobody;
    if (owner != node.id) {
      const auto tag = tags_.find(tensor);
      const NodeId other = owner != kNobody ? owner : (tag ? tag->node : kNobody);
      if (other != kNobody && other != node.id) {
        throw PlacedError{ErrorKind::kUsage,
                          "outputs of node '" + node.name + "' belong to a different node: '" +
                              tensors[i].name + "' was computed in '" +
                              nodes_[static_cast<std::size_t>(other)].name +
                              "'. Pass it to this node through annotate.input_tensors() first.",
                          {}};
      }
      if (node.undecided.count(tensors[i].name) > 0) {
        // An operator reads it, so that it can be followed from pass to pass.
        vars.push_back(tape_->add_snapshot(tensor, node.id));
        continue;
      }
      untraced.push_back(i);
    }
    vars.push_back(known ? *known : tape_->use(tensor));
  }
  return vars;
}

trace::Recording Session::record(Node& node, const NamedTensors& tensors,
                                 const OutputOptions& options, const Current& current,
                                 Sample& sample) {
  trace::Recording recording;
  recording.tape = tape_;
  recording.first_call = node.pass.first_call;
  std::vector<std::size_t> untraced;
  const std::vector<VarId> outputs = output_variables(node, tensors, untraced);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    recording.outputs.push_back({tensors[i].name, outputs[i]});
    sample.outputs.push_back(copy_of(tensors[i].ref));
  }
  for (const TensorSemantics& entry : options.static_outputs) {
    const at::Tensor value = copy_of(entry.ref);
    recording.static_outputs.push_back({entry.name, value});
    sample.outputs.push_back(value);
  }
  for (const NodePort& port : node.inputs) {
    recording.inputs.push_back({port.name, node.pass.inputs.at(port.name)});
    sample.inputs.push_back(node.pass.input_values.at(port.name));
  }
  find_states(node, current, recording, sample);
  find_memory(node, current, recording, sample);
  recording.end_call = static_cast<std::int32_t>(tape_->calls().size());
  std::copy_if(escapes_.begin(), escapes_.end(), std::back_inserter(recording.escapes),
               [&](const auto& escape) { return escape.call >= recording.first_call; });
  for (const std::size_t i : untraced) {
    if (depends_on_state(outputs[i], recording)) continue;
    throw PlacedError{ErrorKind::kUsage, not_traced_text(node.name, tensors[i].name), {}};
  }
  return recording;
}

void Session::find_states(const Node& node, const Current& current, trace::Recording& recording,
                          Sample& sample) {
  using Kind = trace::StateCandidate::Kind;
  std::vector<VarId> roots;
  for (const trace::Recording::Port& port : recording.outputs) roots.push_back(port.var);

  for (const Pass::State& state : node.pass.states) {
    if (state.after == kNobody) {  // never updated: an ordinary input
      recording.inputs.push_back({state.name, state.before});
      sample.inputs.push_back(state.initial);
      continue;
    }
    recording.states.push_back({Kind::kExplicit, state.name, state.before, state.after});
    sample.states_before[state.name] = state.initial;
    sample.states_after[state.name] = state.updated;
    roots.push_back(state.after);
  }

  const auto written_in_pass = [&](VarId var) {
    return tape_->written_since(var, node.pass.first_call);
  };
  for (std::size_t g = 0; g < node.pass.buffers.size(); ++g) {
    const auto& buffers = node.pass.buffers[g].buffers;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const Pass::Buffer& buffer = buffers[i];
      const at::Tensor now = current.at(g).empty() ? buffer.tensor : current[g].at(i);
      const VarId after = tape_->use(now);
      if (after == buffer.before && !written_in_pass(buffer.before)) continue;
      recording.states.push_back({Kind::kDeclared, buffer.name, buffer.before, after});
      sample.states_before[buffer.name] = copy_of(tape_->content(buffer.before));
      sample.states_after[buffer.name] = copy_of(now);
      roots.push_back(after);
    }
  }

  // Memory from outside that the pass wrote to and that something needed depends on. What it writes
  // there may depend on more such memory, so look until nothing new turns up.
  std::set<trace::StoreId> seen;
  for (const trace::StateCandidate& state : recording.states) {
    seen.insert(tape_->variable(state.before).store);
  }
  for (bool again = true; again;) {
    again = false;
    recording.calls = trace::slice(*tape_, roots);
    std::vector<VarId> found;
    for (const std::int32_t index : recording.calls) {
      trace::for_each_variable(
          *tape_, tape_->calls()[static_cast<std::size_t>(index)], [&](VarId var) {
            const auto id = tape_->variable(var).store;
            if (id == kNobody || !tape_->store(id).capture || tape_->store(id).fresh) return;
            if (!written_in_pass(var)) return;
            const VarId root = tape_->store(id).variables.front();
            if (tape_->variable(root).origin != trace::Variable::Origin::kOutside) return;
            if (seen.insert(id).second) found.push_back(root);
          });
    }
    for (const VarId root : found) {
      const std::string name = "state_" + std::to_string(recording.states.size());
      recording.states.push_back({Kind::kFound, name, root, root});
      sample.states_before[name] = copy_of(tape_->content(root));
      sample.states_after[name] = copy_of(tape_->variable(root).held);
      roots.push_back(root);
      again = true;
    }
  }
}

// Which memory from outside the pass used, so that nodes that share some can be wired.
void Session::find_memory(const Node& node, const Current& current,
                          const trace::Recording& recording, Sample& sample) {
  const bool first_pass = !node.complete();
  std::vector<bool> seen(tape_->store_count(), false);
  const auto add = [&](MemoryUse use) {
    if (use.left.defined() && use.left.has_storage()) use.after = captures_.capture(use.left);
    if (const auto* writer = use.before ? writer_of(use.found) : nullptr) use.writer = *writer;
    sample.memory.push_back(std::move(use));
  };
  const auto use_of = [&](VarId var) {
    MemoryUse use;
    use.var = var;
    use.found = tape_->variable(var).held;
    const auto store = tape_->variable(var).store;
    if (store == kNobody) return use;
    use.before = tape_->store(store).capture;
    seen[static_cast<std::size_t>(store)] = true;
    return use;
  };
  std::map<std::string, at::Tensor> reassigned;
  for (std::size_t g = 0; g < node.pass.buffers.size(); ++g) {
    for (std::size_t i = 0; i < current[g].size(); ++i) {
      reassigned[node.pass.buffers[g].buffers[i].name] = current[g][i];
    }
  }
  for (const Pass::State& state : node.pass.states) reassigned[state.name] = state.updated;
  for (const trace::StateCandidate& state : recording.states) {
    MemoryUse use = use_of(state.before);
    use.state = state.name;
    const auto it = reassigned.find(state.name);
    const at::Tensor left = it == reassigned.end() ? use.found : it->second;
    if (left.defined()) use.left = trace::alias_of(left);
    add(std::move(use));
  }
  const auto first = node.pass.first_call;
  const auto add_store = [&](trace::StoreId id) {
    const trace::Store& store = tape_->store(id);
    if (!store.capture || store.fresh || seen[static_cast<std::size_t>(id)]) return;
    const VarId root = store.variables.front();
    if (tape_->variable(root).origin != trace::Variable::Origin::kOutside) return;
    const bool written =
        store.last_write >= first && (store.node == node.id || store.node == kNobody);
    // What a first pass only reads may be written by a node to come; later on its writer is known.
    if (!first_pass && !written && writer_of(tape_->variable(root).held) == nullptr) return;
    MemoryUse use = use_of(root);
    if (written) use.left = use.found;
    add(std::move(use));
  };
  for (const std::int32_t index : recording.calls) {
    trace::for_each_variable(*tape_, tape_->calls()[static_cast<std::size_t>(index)],
                             [&](VarId var) {
                               if (const auto id = tape_->variable(var).store; id != kNobody)
                                 add_store(id);
                             });
  }
  // What it wrote and does not need itself may be for another node.
  for (trace::StoreId id = 0; id < static_cast<trace::StoreId>(tape_->store_count()); ++id) {
    if (tape_->store(id).last_write >= first) add_store(id);
  }
}

void Session::note_writers(const Node& node) {
  for (const MemoryUse& use : node.samples.back().memory) {
    if (!use.after) continue;
    const c10::Storage& storage = use.left.storage();
    writers_.insert_or_assign(
        storage.unsafeGetStorageImpl(),
        Written{c10::weak_intrusive_ptr<c10::StorageImpl>(storage.getWeakStorageImpl()),
                {node.id, node.samples.size() - 1}});
  }
}

const MemoryUse::Writer* Session::writer_of(const at::Tensor& tensor) const {
  if (!tensor.has_storage()) return nullptr;
  const auto it = writers_.find(tensor.storage().unsafeGetStorageImpl());
  if (it == writers_.end() || it->second.storage.expired()) return nullptr;
  return &it->second.writer;
}

void Session::warn_of_baked_values(const Node& node, const trace::Recording& recording) {
  std::set<VarId> seen;
  for (const std::int32_t index : recording.calls) {
    trace::for_each_variable(
        *tape_, tape_->calls()[static_cast<std::size_t>(index)], [&](VarId var) {
          const auto it = outsiders_.find(var);
          if (it == outsiders_.end() || !seen.insert(var).second) return;
          const Outside& outside = it->second;
          if (writer_of(tape_->variable(var).held) != nullptr) return;  // wired as shared state
          if (outside.random) {
            queue_once(LogLevel::kWarning,
                       outside.op + " drew random numbers that node '" + node.name +
                           "' uses: the numbers drawn now are exported as a constant. If they are "
                           "meant to change, pass them through annotate.input_tensors().",
                       outside.frame);
            return;
          }
          const Node& from = nodes_[static_cast<std::size_t>(outside.tag->node)];
          queue_once(
              LogLevel::kWarning,
              "node '" + node.name + "' uses a value of node '" + from.name + "'" +
                  (outside.tag->port.empty() ? ""
                                             : " (" + from.name + "/" + outside.tag->port + ")") +
                  " that is not among its inputs: its present value is exported as a constant. "
                  "Pass it through annotate.input_tensors().",
              outside.frame);
        });
  }
}

void Session::tag_outputs(const Node& node, const NamedTensors& tensors,
                          const OutputOptions& options) {
  if (tape_) {
    for (VarId id = 0; id < static_cast<VarId>(tape_->variable_count()); ++id) {
      const trace::Variable& variable = tape_->variable(id);
      if (variable.node != node.id || variable.origin != trace::Variable::Origin::kResult) continue;
      if (auto impl = variable.impl.lock())
        tags_.set(at::Tensor(std::move(impl)), {node.id, "", {}, node.passes});
    }
  }
  for (const auto* outputs : {&tensors, &options.static_outputs}) {
    for (const TensorSemantics& entry : *outputs) {
      tags_.set(entry.ref, {node.id, entry.name, {}, node.passes});
    }
  }
}

}  // namespace leapp::session
