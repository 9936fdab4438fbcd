#include "compile/draft.h"

#include "base/port_suffix.h"
#include "compile/model_files.h"
#include "export/cpp/cpp_export.h"
#include "interop/convert.h"
#include "ir/first_tick.h"
#include "ir/masks.h"
#include "ir/passes.h"
#include "ir/precision.h"
#include "leapp/trace/onnx_export.h"
#include "state/delayed.h"
#include "state/names.h"
#include "trace/inside.h"
#include "trace/sizes.h"

namespace leapp::compile {
namespace {

using session::Backend;
using session::NodePort;
using state::finding;
using state::State;

trace::Purified purify_pass(const Draft& draft, std::size_t pass,
                            const std::vector<trace::StateSlot>& slots, const NameOf& name_of) {
  trace::Recording recording = draft.node().passes[pass].recording;
  recording.calls = trace::calls_for(recording, slots);
  trace::PurifyOptions options;
  options.name = name_of;
  // A custom operator would have to be available at run time.
  options.keep = [backend = draft.backend](const c10::OperatorHandle& op) {
    if (backend != Backend::kOnnx && backend != Backend::kCpp) return trace::is_aten(op);
    const std::string name = c10::toString(op.operator_name());
    return backend == Backend::kCpp ? cpp_export::can_generate(name) : can_convert_to_onnx(name);
  };
  return trace::purify(recording, slots, draft.node().passes.front().inputs, options);
}

// The states of a draft that other nodes read.
std::vector<bool> wanted_of(const Draft& draft, const std::vector<Draft>& drafts) {
  std::vector<bool> wanted(draft.states.states.size(), false);
  for (const Draft& reader : drafts) {
    for (std::size_t i = 0; i < reader.choice.in.size(); ++i) {
      const auto& feed = reader.states.states[i].fed_by;
      if (reader.choice.in[i] && feed && feed->state && feed->node == draft.node().id) {
        wanted[*feed->state] = true;
      }
    }
  }
  return wanted;
}

Diagnostic remark_on(const Node& node, const State& state, std::span<const Node* const> nodes) {
  std::string how = "a pass reads and writes";
  if (state.origin == State::Origin::kCarried) how = "each pass replaces by a different value";
  if (state.fed_by) {
    const std::string from = "node '" + session::find_node(nodes, state.fed_by->node)->name + "'";
    how = state.fed_by->state ? from + " writes" : "is '" + state.fed_by->output + "' of " + from;
  }
  return finding(Code::kFoundState, LogLevel::kInfo, {}, node.name,
                 "state of node '" + node.name + "': '" + state.slot.name + "', which " + how);
}

std::vector<std::string> input_names(const ir::Graph& graph) {
  std::vector<std::string> names;
  for (const ir::ValueId id : graph.inputs()) names.push_back(graph.value(id).name);
  return names;
}

void say_states(const Draft& draft, std::span<const Node* const> nodes, state::Findings& findings) {
  for (std::size_t i = 0; i < draft.choice.in.size(); ++i) {
    const State& state = draft.states.states[i];
    if (!draft.choice.in[i] || state.origin == State::Origin::kExplicit) continue;
    findings.push_back(remark_on(draft.node(), state, nodes));
  }
}

// Adds a pass-through to the graph for each link.
void add_delays(Draft& draft, std::span<const Node* const> nodes, state::Findings& findings) {
  ir::Graph& graph = draft.pure.graph;
  state::add_delays(draft.states, input_names(graph), nodes, findings);
  for (const State& state : draft.states.states) {
    if (state.origin != State::Origin::kDelayed) continue;
    const std::string& name = state.slot.name;
    graph.add_output(name, graph.add_input(name, interop::type_of(state.slot.value)));
  }
}

void simplify(ir::Graph& graph, Backend backend) {
  ir::remove_dead_code(graph);
  ir::remove_identities(graph);
  ir::merge_constants(graph);
  ir::merge_duplicates(graph);
  // Backends that do not support data-dependent shapes.
  const bool is_static = backend == Backend::kOnnx || backend == Backend::kCpp;
  ir::spread_selections(graph, is_static ? ir::Spread::kRows : ir::Spread::kElements);
  ir::name_modules(graph);
  ir::verify(graph);
}

// Reports properties of the graph to the user. Returns true if it draws random numbers; numbers
// that affect no output are already removed.
bool say_operators(const Node& node, const trace::Purified& pure, state::Findings& findings) {
  for (const trace::Purified::Opened& each : pure.opened) {
    findings.push_back(finding(
        Code::kFallback, LogLevel::kInfo, each.where, node.name,
        each.op +
            " is a custom operator; LEAPP exports the operators that its implementation calls"));
  }
  bool random = false;
  for (const ir::Op& op : pure.graph.ops()) {
    // nonzero() works with any number of elements; if the export is specialised, a later operator
    // is the cause.
    if (op.fixed_size && op.signature->name != "aten::nonzero") {
      findings.push_back(finding(Code::kDataDependentSize, LogLevel::kWarning, op.source, node.name,
                                 op.signature->name + trace::kFixedSize));
    }
    if (!op.random) continue;
    random = true;
    findings.push_back(
        finding(Code::kRandomInside, LogLevel::kWarning, op.source, node.name,
                op.signature->name + " draws random numbers inside node '" + node.name +
                    "'. The exported model draws different numbers, so its outputs differ from the "
                    "traced ones. Use eval() or a deterministic policy for export."));
  }
  return random;
}

// ONNX has one namespace for inputs and outputs.
void rename_for_onnx(Model& model) {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  for (const Port& port : model.inputs) inputs.push_back(port.name);
  for (const Port& port : model.outputs) outputs.push_back(port.name);
  separate_names(inputs, outputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) model.inputs[i].name = std::move(inputs[i]);
  for (std::size_t i = 0; i < outputs.size(); ++i) model.outputs[i].name = std::move(outputs[i]);
}

void add_ports(const Draft& draft, ExportedNode& made) {
  const ir::Graph& graph = draft.pure.graph;
  const auto port = [](const std::vector<NodePort>& declared, const std::string& name,
                       const ir::TensorType& type) -> Port {
    const NodePort* known = session::find_port(declared, name);
    return {name, type.dtype, type.shape, known == nullptr ? Semantics{} : known->semantics};
  };
  for (const ir::ValueId id : graph.inputs()) {
    const ir::Value& value = graph.value(id);
    made.model.inputs.push_back(port(draft.node().inputs, value.name, value.type));
  }
  for (const ir::Graph::Output& output : graph.outputs()) {
    made.model.outputs.push_back(port(draft.node().outputs, output.name, graph.type(output.value)));
  }
  made.keep_names();
  made.output_precisions = ir::output_precisions(graph);
  if (session::params_of(draft.node()).weights != "float32") {
    // The results are as precise as the weights.
    std::ranges::fill(made.output_precisions, DType::kBFloat16);
  }
}

// Returns why the computation or state of a pass has no C++; empty if it has.
std::string why_not_cpp(const std::string& node, const trace::Purified& pure) {
  ir::Graph graph = pure.graph;
  const auto put_out = [&](const std::vector<ir::ValueId>& values, const std::string& side) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] != ir::kNoValue) graph.add_output(side + std::to_string(i), values[i]);
    }
  };
  put_out(pure.outputs, "output");
  put_out(pure.after, "state");
  simplify(graph, Backend::kCpp);
  try {
    cpp_export::generate(graph, node);
  } catch (const Error& error) {
    if (error.code() != Code::kNoCpp) throw;
    return error.text();
  }
  return {};
}

trace::Purified purified(const Draft& draft, const NameOf& name_of) {
  const std::vector<trace::StateSlot> slots = state::slots_of(draft.states.states);
  trace::Purified rest = purify_pass(draft, draft.states.base, slots, name_of);
  if (draft.states.opening.empty()) return rest;
  const trace::Purified first = purify_pass(draft, 0, draft.states.opening, name_of);
  std::vector<ir::TickPair> pairs;
  for (std::size_t i = 0; i < rest.outputs.size(); ++i) {
    pairs.emplace_back(first.outputs[i], rest.outputs[i]);
  }
  for (std::size_t i = 0; i < rest.after.size(); ++i) {
    pairs.emplace_back(first.after[i], rest.after[i]);
  }
  const std::vector<ir::ValueId> chosen =
      ir::choose_by_tick(rest.graph, first.graph, rest.before.back(), pairs);
  const auto end_of_outputs = chosen.begin() + static_cast<std::ptrdiff_t>(rest.outputs.size());
  rest.outputs.assign(chosen.begin(), end_of_outputs);
  rest.after.assign(end_of_outputs, chosen.end());
  return rest;
}

}  // namespace

std::optional<Diagnostic> purify(Draft& draft, const NameOf& name_of) {
  draft.pure = purified(draft, name_of);
  const bool may_fall_back =
      draft.backend == Backend::kCpp && session::params_of(draft.node()).fallback.has_value();
  const std::string reason = may_fall_back ? why_not_cpp(draft.node().name, draft.pure) : "";
  if (reason.empty()) return std::nullopt;
  draft.backend = Backend::kOnnx;
  draft.pure = purified(draft, name_of);
  return state::warning(Code::kCppFallback, {}, draft.node().name,
                        "node '" + draft.node().name + "' becomes ONNX: " + reason);
}

void choose_states(std::vector<Draft>& drafts) {
  for (bool again = true; again;) {
    again = false;
    for (Draft& draft : drafts) {
      StateChoice choice = choose_states(draft.states.states, draft.pure, wanted_of(draft, drafts));
      again |= choice != draft.choice;
      draft.choice = std::move(choice);
    }
  }
}

ExportedNode finish(Draft& draft, std::span<const Node* const> nodes, state::Findings& findings) {
  const trace::Recording& recording = draft.states.exported().recording;
  close_graph(draft.states, draft.choice, draft.pure);
  say_states(draft, nodes, findings);
  add_delays(draft, nodes, findings);
  // Outputs, state, static outputs: the order that readers of model files expect.
  auto constant = draft.pure.outputs.begin() + std::ssize(recording.outputs);
  for (const trace::Recording::Constant& each : recording.static_outputs) {
    draft.pure.graph.add_output(each.name, *constant++);
  }
  simplify(draft.pure.graph, draft.backend);
  ExportedNode made{.states = {}, .ours = true};
  made.model.name = draft.node().name;
  made.random = say_operators(draft.node(), draft.pure, findings);
  add_ports(draft, made);
  if (format_of(draft.backend) == "onnx") rename_for_onnx(made.model);
  made.states = std::move(draft.states);
  return made;
}

}  // namespace leapp::compile
