#include "session/completion.h"

#include <algorithm>

#include "base/find.h"
#include "session/backend.h"
#include "session/draws.h"
#include "session/pass_builder.h"
#include "session/passes.h"
#include "session/placed_error.h"
#include "session/played_passes.h"
#include "session/ports.h"
#include "trace/constant.h"
#include "trace/sizes.h"

namespace leapp::session {
namespace {

// Calls `visit` for each output; static outputs come last.
template <typename Visit>
void for_each_output(const NamedTensors& tensors, const OutputOptions& options, Visit&& visit) {
  for (const TensorSemantics& entry : tensors) visit(entry, false);
  for (const TensorSemantics& entry : options.static_outputs) visit(entry, true);
}

// Refuses a pass that has fewer or more ports than the first one.
void check_ports_again(const SessionNode& node, std::size_t outputs) {
  if (outputs != node.outputs.size()) {
    refuse_new_signature(node, std::to_string(outputs) + " outputs, but the first pass had " +
                                   std::to_string(node.outputs.size()));
  }
  const auto check = [&](const std::vector<NodePort>& ports, const char* kind, const char* how) {
    for (const NodePort& port : ports) {
      if (port.is_drawn || node.pass.has(port.name)) continue;
      refuse_new_signature(node, std::string(kind) + " '" + port.name + "' was " + how +
                                     " in the first pass and is missing now");
    }
  };
  check(node.inputs, "input", "given");
  check(node.states, "state", "declared");
  for (const Declared& state : node.pass.record.states) {
    const auto* first = find_in(node.passes.front().states, state.name, &Declared::name);
    const bool updated = state.updated.defined();
    if (updated == (first != nullptr && first->updated.defined())) continue;
    const char* what = updated ? "is updated now, but was not in the first pass"
                               : "was updated in the first pass and is not now";
    refuse_new_signature(node, "state '" + state.name + "' " + what +
                                   ". Call annotate.update_state() in every pass or in none.");
  }
}

// Refuses a node without outputs that writes no state and nothing that other nodes read.
void check_any_effect(const SessionNode& node, const Pass& pass) {
  const auto writes = [](const MemoryUse& use) { return use.after || !use.declared.empty(); };
  if (!node.outputs.empty() || std::ranges::any_of(pass.memory, writes)) return;
  refuse(Code::kNothingToExport, "output_tensors() of node '" + node.name +
                                     "' names no output, and the node keeps no state: there is "
                                     "nothing to export. Name at least one output.");
}

void declare_outputs(SessionNode& node, const NamedTensors& tensors, const OutputOptions& options) {
  try {
    parse_backend_params(parse_backend(options.export_with), options.backend_params);
  } catch (const Error& error) {
    refuse(error.code(), "node '" + node.name + "': " + error.text());
  }
  node.outputs.clear();  // of a call that failed
  for_each_output(tensors, options, [&](const TensorSemantics& entry, bool is_static) {
    NodePort port = describe(entry);
    port.is_static = is_static;
    const bool is_state = find_port(node.states, port.name) != nullptr;
    if (is_state || find_port(node.outputs, port.name) != nullptr) {
      refuse(Code::kDuplicateName,
             "Duplicate i/o name '" + port.name +
                 (is_state ? "': node '" + node.name +
                                 "' has a state of that name. Give the output another one."
                           : "' among the outputs of node '" + node.name +
                                 "'. Names must be unique within a node."));
    }
    node.outputs.push_back(std::move(port));
  });
}

void check_outputs_again(SessionData& data, SessionNode& node, const NamedTensors& tensors,
                         const OutputOptions& options, trace::FrameRef frame) {
  for_each_output(tensors, options, [&](const TensorSemantics& entry, bool) {
    match_port(node, node.outputs, describe(entry), "output", data.messages, frame);
  });
  if (options.export_with != node.export_with) {
    const auto quoted = [](const std::optional<std::string>& backend) {
      return backend ? "'" + *backend + "'" : std::string("None");
    };
    data.messages.warn(Code::kLaterPassIgnored, node.name,
                       "node '" + node.name + "' is exported with " + quoted(node.export_with) +
                           ", as in its first pass: export_with=" + quoted(options.export_with) +
                           " in a later pass has no effect",
                       frame);
  }
  if (options.backend_params != node.backend_params) {
    data.messages.warn(
        Code::kLaterPassIgnored, node.name,
        "the backend_params of node '" + node.name +
            "' are those of its first pass. Different ones in a later pass have no effect",
        frame);
  }
  check_ports_again(node, tensors.size() + options.static_outputs.size());
}

void warn_of_dynamic_ports(SessionData& data, const SessionNode& node, const Pass& pass,
                           trace::FrameRef frame) {
  const auto look = [&](const char* side, const std::string& name, VarId var) {
    if (var == kNoId || pass.tape().variable(var).dynamic == 0) return;
    data.messages.warn(
        Code::kDataDependentSize, node.name,
        std::string(side) + " '" + name + "' of node '" + node.name + "'" + trace::kDynamicPort,
        frame);
  };
  for (const trace::Recording::Port& port : pass.recording.outputs) {
    look("output", port.name, port.var);
  }
  for (const Declared& state : pass.states) look("state", state.name, state.after);
  for (const Declared& buffer : pass.buffers) look("state", buffer.name, buffer.after);
}

// Compares the inputs with those of the previous pass, if no other node ran since and both passes
// are recorded.
void compare_inputs(const SessionData& data, const SessionNode& node, NodeRun& run) {
  const bool follows_itself = !data.runs.empty() && data.runs.back().node == node.id;
  const std::size_t passes = node.passes.size();
  if (!follows_itself || passes != static_cast<std::size_t>(node.completed) + 1) return;
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    if (run.inputs[i].source || node.inputs[i].is_drawn) continue;
    run.inputs[i].is_unchanged =
        trace::same_value(node.passes[passes - 2].inputs[i], node.passes[passes - 1].inputs[i]);
  }
}

// Adds the pass to the log. Its ports are known to be those of the first pass.
void add_run(SessionData& data, SessionNode& node, const NamedTensors& tensors,
             const OutputOptions& options, bool played) {
  NodeRun run = node.pass.run;
  run.played = played;
  run.node = node.id;
  run.pass = node.completed;
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    const bool has_usual_source =
        run.inputs[i].source && run.inputs[i].source == node.inputs[i].source;
    if (has_usual_source) node.inputs[i].age.add(run.inputs[i].read);
  }
  run.numbers.resize(node.outputs.size());
  for_each_output(tensors, options, [&](const TensorSemantics& entry, bool) {
    const auto output = find_port(node.outputs, entry.name) - node.outputs.data();
    run.numbers[static_cast<std::size_t>(output)] = number_of(entry.ref);
  });
  compare_inputs(data, node, run);
  if (data.runs.empty() || data.runs.back().node != node.id) ++node.turns;
  data.runs.push_back(std::move(run));
}

// Ends the pass, and tags its outputs and all other results.
void finish_pass(SessionData& data, SessionNode& node, const NamedTensors& tensors,
                 const OutputOptions& options, bool played) {
  add_run(data, node, tensors, options, played);
  const TagRef inside = node.pass.inside;
  for (const at::Tensor& tensor : end_pass(data, node)) data.tags.set(tensor, inside);
  for_each_output(tensors, options, [&](const TensorSemantics& entry, bool) {
    const Tag tag{.node = node.id,
                  .port = entry.name,
                  .pass = node.completed,
                  .shape = entry.ref.sizes().vec(),
                  .dtype = entry.ref.scalar_type()};
    data.tags.set(entry.ref, std::make_shared<const Tag>(tag));
  });
  ++node.completed;
}

}  // namespace

NamedTensors find_independent_outputs(const SessionData& data, const SessionNode& node,
                                      const NamedTensors& tensors) {
  NamedTensors found;
  if (!node.pass.recorded) return found;
  for (const TensorSemantics& entry : tensors) {
    if (!entry.ref.defined() || trace::is_wrapped(entry.ref)) continue;
    if (data.tape.owner_of(entry.ref) != kNoId || node.undecided.count(entry.name) > 0) continue;
    const auto tag = data.tags.find(entry.ref);
    if (tag && tag->node != node.id) continue;
    if (!depends_on_state(data.tape, node, data.tape->use(entry.ref))) found.push_back(entry);
  }
  return found;
}

void complete_pass(SessionData& data, SessionNode& node, const NamedTensors& tensors,
                   const OutputOptions& options, trace::FrameRef frame) {
  const bool first = !node.complete();
  supply_missing_noise(data, node);
  for (const TensorSemantics& entry : options.static_outputs) {
    if (data.tape.owner_of(entry.ref) == kNoId) continue;
    refuse(Code::kStaticIsTraced, "static output '" + entry.name + "' of node '" + node.name +
                                      "' depends on traced tensors. Static outputs should be "
                                      "constant tensors; pass it among the ordinary outputs.");
  }
  if (first) {
    declare_outputs(node, tensors, options);
  } else {
    check_outputs_again(data, node, tensors, options, frame);
  }
  if (!node.played.empty() && has_enough_passes(data, node)) {
    node.latest = node.pass.record.recording.tape;  // later passes may play its results
  } else if (node.pass.recorded || first) {
    Pass pass = build_pass(data, node, tensors, options);
    pass.closed_at = frame;
    if (data.sizes_vary && node.pass.recorded) warn_of_dynamic_ports(data, node, pass, frame);
    if (first && node.pass.recorded) check_any_effect(node, pass);
    for (const MemoryUse& use : pass.memory) {
      if (!use.after) continue;
      data.memory.set_writer(use.left, {node.id, node.passes.size()});
    }
    if (node.pass.recorded) node.latest = pass.recording.tape;
    node.passes.push_back(std::move(pass));
  }
  ++node.computed;
  if (first) {
    node.export_with = options.export_with;
    node.backend_params = options.backend_params;
    node.constants = options.constants;
    node.schedule = options.schedule;
    if (node.schedule) node.schedule->node = node.name;
    node.completion = static_cast<int>(std::ranges::count_if(data.nodes, &Node::complete));
  }
  finish_pass(data, node, tensors, options, false);
}

void complete_played(SessionData& data, SessionNode& node, const NamedTensors& tensors,
                     const OutputOptions& options, PlayedPass played, trace::FrameRef frame) {
  check_outputs_again(data, node, tensors, options, frame);
  if (node.computed <= data.options.max_cached_io + 1) node.played.push_back(std::move(played));
  finish_pass(data, node, tensors, options, true);
}

}  // namespace leapp::session
