// compile_graph(): from recorded nodes to a bundle on disk.
#include <torch/version.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <map>
#include <set>

#include "base/check.h"
#include "base/hash.h"
#include "bundle/safetensors.h"
#include "bundle/staging.h"
#include "export/torchscript/torchscript.h"
#include "interop/convert.h"
#include "ir/first_tick.h"
#include "ir/masks.h"
#include "ir/passes.h"
#include "ir/precision.h"
#include "leapp/bundle.h"
#include "leapp/leapp.h"
#include "leapp/onnx_export.h"
#include "session/backend.h"
#include "session/carried_states.h"
#include "session/delays.h"
#include "session/dropped.h"
#include "session/handover.h"
#include "session/hooks.h"
#include "session/own_model.h"
#include "session/rates.h"
#include "session/replay.h"
#include "session/session.h"
#include "session/session_lock.h"
#include "session/sharing.h"
#include "session/sizes.h"
#include "session/wires.h"
#include "trace/purify.h"
#include "trace/state_choice.h"
#include "viz/draw.h"

namespace leapp {
namespace session {
namespace {

// "Debian GNU/Linux 12", from the place every current distribution writes it to.
std::string operating_system() {
  std::ifstream file("/etc/os-release");
  std::string name = "Linux";
  std::string version;
  for (std::string line; std::getline(file, line);) {
    const auto value = [&] {
      std::string text = line.substr(line.find('=') + 1);
      text.erase(std::remove(text.begin(), text.end(), '"'), text.end());
      return text;
    };
    if (line.rfind("NAME=", 0) == 0) name = value();
    if (line.rfind("VERSION_ID=", 0) == 0) version = value();
  }
  return version.empty() ? name : name + " " + version;
}

// A file of the bundle, as its YAML states it.
FileEntry entry_of(const std::filesystem::path& file) {
  const Checksums sums = hash_file(file);
  return {file.filename().string(), sums.md5, sums.sha256};
}

Port to_port(const std::string& name, const ir::TensorType& type, const Semantics& semantics) {
  return {name, type.dtype, type.shape, semantics};
}

const NodePort* find_port(const std::vector<NodePort>& ports, const std::string& name) {
  const auto it = std::find_if(ports.begin(), ports.end(),
                               [&](const NodePort& port) { return port.name == name; });
  return it == ports.end() ? nullptr : &*it;
}

Semantics semantics_of(const std::vector<NodePort>& ports, const std::string& name) {
  const NodePort* port = find_port(ports, name);
  return port == nullptr ? Semantics{} : port->semantics;
}

// What passes show is added to the nodes while they are compiled. Takes that back, so that the next
// compile_graph() begins with what was traced.
class AsTraced {
 public:
  explicit AsTraced(std::deque<Node>& nodes) {
    for (Node& node : nodes) {
      saved_.push_back({&node, node.recording, node.carried, node.notes, node.samples});
    }
  }
  ~AsTraced() {
    for (Saved& saved : saved_) {
      saved.node->recording = std::move(saved.recording);
      saved.node->carried = std::move(saved.carried);
      saved.node->notes = std::move(saved.notes);
      saved.node->samples = std::move(saved.samples);
      saved.node->opening.reset();
    }
  }
  AsTraced(const AsTraced&) = delete;
  AsTraced& operator=(const AsTraced&) = delete;

 private:
  struct Saved {
    Node* node;
    trace::Recording recording;
    Carried carried;
    Notes notes;
    std::vector<Sample> samples;
  };
  std::vector<Saved> saved_;
};

// One export under way: the nodes so far, and the folder they are written to.
class Compiler {
 public:
  Compiler(Session& session, const CompileOptions& options)
      : session_(session),
        options_(options),
        dry_run_(options.dry_run || session.options().dry_run),
        staged_(session.folder()) {}

  std::vector<NodeOutcome> run();

 private:
  // A node on its way from its recording to a model.
  struct Draft {
    Node* node = nullptr;
    Backend backend = Backend::kNone;
    trace::Purified pure = {};
    trace::StateChoice choice = {};

    bool has_graph() const { return node->traced && backend != Backend::kNone; }
  };

  void check_complete() const;
  void check_non_traced() const;
  std::vector<Draft> draft() const;
  void find_shared(std::vector<Draft>& drafts);
  void choose_states(std::vector<Draft>& drafts) const;
  CompiledNode compile(Draft& draft);
  CompiledNode describe_only(const Node& node) const;
  trace::Purified purify(const Node& node, Backend backend) const;
  trace::Purified purify(const Node& node, const trace::Recording& recording,
                         Backend backend) const;
  void say_states(const Draft& draft, const std::vector<bool>& used) const;
  static void check_undecided(const Node& node);
  std::string first_sign(const std::vector<NodeOutcome>& outcomes) const;
  const SharedState* feeder_of(const Node& node, std::size_t state) const;
  const CarriedFeed* port_of(const Node& node, std::size_t state) const;
  void write_model(const Node& node, Backend backend, const ir::Graph& graph,
                   CompiledNode& compiled);
  void write_bridged(const Node& node, Backend backend, const ir::Graph& graph,
                     CompiledNode& compiled);
  void take_own_model(const Node& node, CompiledNode& compiled);
  std::string name_of(const at::Tensor& tensor) const;
  void name_found_states(Node& node) const;
  void rename_for_onnx(CompiledNode& compiled) const;
  void write_initial_values(Bundle& bundle) const;
  void write_yaml(const Bundle& bundle) const;
  void draw_bundle(const Bundle& bundle) const;
  void say(LogLevel level, const std::string& text) const { session_.say(level, text); }

  Session& session_;
  const CompileOptions& options_;
  bool dry_run_;
  StagedDirectory staged_;
  TensorNames names_;
  std::vector<SharedState> shared_;
  std::vector<CarriedFeed> carried_;
  std::vector<CompiledNode> nodes_;
};

void Compiler::check_complete() const {
  for (const Node& node : session_.nodes()) {
    const bool left_open = node.pass.open;
    if (node.complete() && !left_open) continue;
    const std::string where = trace::line_prefix(node.opened_at);
    const std::string advice = "Call annotate.output_tensors('" + node.name + "', ...)";
    require(node.complete(), ErrorKind::kUsage,
            where + "node '" + node.name + "' was created but never completed. " + advice + ".");
    say(LogLevel::kWarning, where + "pass " + std::to_string(node.passes + 1) + " of node '" +
                                node.name + "' was never completed, so it counts for nothing. " +
                                advice + " in every pass.");
  }
}

// A name in non_traced that no node has is most often a misspelt one.
void Compiler::check_non_traced() const {
  std::string known;
  for (const Node& node : session_.nodes()) {
    known += (known.empty() ? "'" : ", '") + node.name + "'";
  }
  for (const std::string& name : session_.options().non_traced) {
    const auto is_it = [&](const Node& node) { return node.name == name; };
    if (std::any_of(session_.nodes().begin(), session_.nodes().end(), is_it)) continue;
    say(LogLevel::kWarning,
        "leapp.start(non_traced=..) names '" + name +
            "', but there was no such node; there were: " + (known.empty() ? "none" : known));
  }
}

trace::Purified Compiler::purify(const Node& node, const trace::Recording& recording,
                                 Backend backend) const {
  std::vector<at::Tensor> examples = node.samples.front().inputs;
  trace::PurifyOptions options;
  if (backend == Backend::kOnnx) {
    options.keep = [](const c10::OperatorHandle& op) {
      return can_convert_to_onnx(c10::toString(op.operator_name()));
    };
  } else {
    options.keep = [](const c10::OperatorHandle&) { return true; };
  }
  options.name = [&](const at::Tensor& tensor) { return name_of(tensor); };
  return trace::purify(recording, examples, options);
}

// Where the first tick is of its own kind, a flag chooses between it and the others: the last
// state.
trace::Purified Compiler::purify(const Node& node, Backend backend) const {
  trace::Purified rest = purify(node, node.recording, backend);
  if (!node.opening) return rest;
  const trace::Purified first = purify(node, *node.opening, backend);
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

std::vector<Compiler::Draft> Compiler::draft() const {
  std::vector<Draft> drafts;
  for (Node& node : session_.nodes()) {
    Backend backend = parse_backend(node.export_with);
    const std::string missing = backend == Backend::kBridgedOnnx && hooks().missing
                                    ? hooks().missing(*node.export_with)
                                    : "";
    if (!missing.empty() && node.traced) {
      backend = Backend::kOnnx;  // the same format, so that the pipeline is exported all the same
      say(LogLevel::kWarning, "node '" + node.name + "': export_with='" + *node.export_with +
                                  "' needs the Python package " + missing +
                                  ", which is not installed ('pip install " + missing +
                                  "'): it is exported by LEAPP's own converters, as with 'onnx'");
    }
    drafts.push_back({&node, backend});
  }
  std::sort(drafts.begin(), drafts.end(),
            [](const Draft& a, const Draft& b) { return a.node->completion < b.node->completion; });
  return drafts;
}

void Compiler::find_shared(std::vector<Draft>& drafts) {
  std::vector<Node*> nodes;
  for (const Draft& draft : drafts) {
    if (draft.has_graph()) nodes.push_back(draft.node);
  }
  std::vector<std::string> warnings;
  carried_ = add_carried_states(nodes, warnings);
  shared_ = find_shared_states(nodes, warnings);
  for (std::string& dropped : describe_dropped(nodes)) warnings.push_back(std::move(dropped));
  for (const std::string& warning : warnings) say(LogLevel::kWarning, warning);
  for (Node* node : nodes) {
    for (const Note& note : node->notes) {
      say(LogLevel::kWarning, trace::line_prefix(note.where) + note.text);
    }
    check_undecided(*node);
    name_found_states(*node);
  }
}

// By now it is known what is state: outputs that depend on none, nor on an input, are constants.
void Compiler::check_undecided(const Node& node) {
  const trace::Recording& recording = node.recording;
  const trace::Tape& tape = *recording.tape;
  const auto varies = [&](VarId var) {
    const auto is_it = [&](const trace::StateCandidate& state) {
      return state.after != kNobody && state.before == var;
    };
    return tape.variable(var).origin == trace::Variable::Origin::kInput ||
           std::any_of(recording.states.begin(), recording.states.end(), is_it);
  };
  for (const trace::Recording::Port& output : recording.outputs) {
    if (node.undecided.count(output.name) == 0) continue;
    require(
        trace::depends_on(tape, output.var, varies), ErrorKind::kUsage,
        trace::line_prefix(node.opened_at) + not_traced_text(node.name, output.name) +
            (node.samples.size() < 2 ? " If it is state, trace a second pass to show it." : ""));
  }
}

// What the first node that failed did otherwise in a later pass, as a sentence.
std::string Compiler::first_sign(const std::vector<NodeOutcome>& outcomes) const {
  for (const NodeOutcome& outcome : outcomes) {
    if (outcome.passed) continue;
    for (const Node& node : session_.nodes()) {
      if (node.name != outcome.node || node.notes.empty()) continue;
      const Note& note = node.notes.front();
      return "First sign: " + trace::line_prefix(note.where) + note.text + ". ";
    }
  }
  return {};
}

const SharedState* Compiler::feeder_of(const Node& node, std::size_t state) const {
  const auto it = std::find_if(shared_.begin(), shared_.end(), [&](const SharedState& shared) {
    return shared.to == &node && shared.to_state == state;
  });
  return it == shared_.end() ? nullptr : &*it;
}

const CarriedFeed* Compiler::port_of(const Node& node, std::size_t state) const {
  const auto it = std::find_if(carried_.begin(), carried_.end(), [&](const CarriedFeed& feed) {
    return feed.to == &node && feed.to_state == state;
  });
  return it == carried_.end() ? nullptr : &*it;
}

// What one node needs of its state may make another one put it out, and so need more itself.
void Compiler::choose_states(std::vector<Draft>& drafts) const {
  for (bool again = true; again;) {
    again = false;
    for (Draft& draft : drafts) {
      if (!draft.has_graph()) continue;
      std::vector<bool> wanted(draft.node->recording.states.size(), false);
      for (const SharedState& shared : shared_) {
        if (shared.from != draft.node) continue;
        const auto to = std::find_if(drafts.begin(), drafts.end(),
                                     [&](const Draft& d) { return d.node == shared.to; });
        wanted[shared.from_state] =
            wanted[shared.from_state] || (!to->choice.in.empty() && to->choice.in[shared.to_state]);
      }
      trace::StateChoice choice = trace::choose_states(draft.node->recording, draft.pure, wanted);
      again |= choice != draft.choice;
      draft.choice = std::move(choice);
    }
  }
}

void Compiler::say_states(const Draft& draft, const std::vector<bool>& used) const {
  const Node& node = *draft.node;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) continue;
    say(LogLevel::kWarning, "input '" + node.recording.inputs[i].name + "' of node '" + node.name +
                                "' does not reach any output and is left out");
  }
  for (std::size_t i = 0; i < draft.choice.in.size(); ++i) {
    const trace::StateCandidate& state = node.recording.states[i];
    if (!draft.choice.in[i] || state.kind == trace::StateCandidate::Kind::kExplicit) continue;
    const SharedState* feeder = feeder_of(node, i);
    const CarriedFeed* port = port_of(node, i);
    say(LogLevel::kInfo,
        "state of node '" + node.name + "': '" + state.name + "', which " +
            (feeder != nullptr ? "node '" + feeder->from->name + "' writes"
             : port != nullptr ? "is '" + port->port + "' of node '" + port->from->name + "'"
             : state.kind == trace::StateCandidate::Kind::kCarried
                 ? std::string("each pass replaces by a value of its own")
                 : std::string("a pass reads and writes")));
  }
}

CompiledNode Compiler::describe_only(const Node& node) const {
  CompiledNode compiled;
  compiled.node = &node;
  compiled.model.name = node.name;
  const auto add = [](std::vector<Port>& ports, std::vector<std::string>& names,
                      const NodePort& port) {
    ports.push_back({port.name, port.dtype, port.shape, port.semantics});
    names.push_back(port.name);
  };
  for (const NodePort& port : node.inputs) {
    add(compiled.model.inputs, compiled.input_names, port);
  }
  for (const NodePort& port : node.outputs) {
    add(compiled.model.outputs, compiled.output_names, port);
  }
  for (const NodePort& state : node.states) {
    add(compiled.model.inputs, compiled.input_names, state);
    const bool updated =
        !node.samples.empty() && node.samples.front().states_after.count(state.name) > 0;
    if (!updated) continue;
    add(compiled.model.outputs, compiled.output_names, state);
    compiled.state_wires.push_back({state.name, node.id, state.name});
  }
  return compiled;
}

void Compiler::rename_for_onnx(CompiledNode& compiled) const {
  std::set<std::string> inputs;
  std::set<std::string> both;
  for (const Port& port : compiled.model.inputs) inputs.insert(port.name);
  for (const Port& port : compiled.model.outputs) {
    if (inputs.count(port.name) > 0) both.insert(port.name);
  }
  for (Port& port : compiled.model.inputs) {
    if (both.count(port.name) > 0) port.name += "_in";
  }
  for (Port& port : compiled.model.outputs) {
    if (both.count(port.name) > 0) port.name += "_out";
  }
}

CompiledNode Compiler::compile(Draft& draft) {
  const Node& node = *draft.node;
  if (!draft.has_graph()) {
    CompiledNode compiled = describe_only(node);
    if (draft.backend == Backend::kNone) take_own_model(node, compiled);
    if (compiled.model.file) refuse_delays(node, session_.nodes());
    return compiled;
  }
  say_states(draft, trace::close_graph(node.recording, draft.choice, draft.pure));
  ir::Graph& graph = draft.pure.graph;
  Delays delays = add_delays(*draft.node, session_.nodes(), graph);
  for (const std::string& line : delays.lines) say(LogLevel::kInfo, line);
  ir::remove_dead_code(graph);
  ir::remove_identities(graph);
  ir::merge_constants(graph);
  ir::merge_duplicates(graph);
  ir::spread_selections(
      graph, draft.backend == Backend::kOnnx ? ir::Spread::kRows : ir::Spread::kElements);
  ir::name_modules(graph);
  ir::verify(graph);
  for (const ir::Op& op : graph.ops()) {
    // nonzero() works with any; where it does not, it is for an operator that follows.
    if (!op.fixed_size || op.signature->name == "aten::nonzero") continue;
    const std::string where = op.source.known() ? op.source.to_string() + ": " : "";
    say(LogLevel::kWarning, where + op.signature->name + kFixedSize);
  }
  say(LogLevel::kDebug, "Graph of node '" + node.name + "':\n" + ir::to_text(graph));

  CompiledNode compiled;
  compiled.node = &node;
  compiled.model.name = node.name;
  compiled.state_wires = std::move(delays.wires);
  for (const ir::ValueId id : graph.inputs()) {
    const ir::Value& value = graph.value(id);
    compiled.model.inputs.push_back(
        to_port(value.name, value.type, semantics_of(node.inputs, value.name)));
    compiled.input_names.push_back(value.name);
  }
  for (const ir::Graph::Output& output : graph.outputs()) {
    compiled.model.outputs.push_back(
        to_port(output.name, graph.type(output.value), semantics_of(node.outputs, output.name)));
    compiled.output_names.push_back(output.name);
  }
  compiled.output_precisions = ir::output_precisions(graph);
  for (std::size_t i = 0; i < draft.choice.in.size(); ++i) {
    if (!draft.choice.in[i]) continue;
    const std::string& name = node.recording.states[i].name;
    if (const CarriedFeed* port = port_of(node, i)) {
      compiled.state_wires.push_back({name, port->from->id, port->port, false});
      continue;
    }
    const SharedState* feeder = feeder_of(node, i);
    const Node& from = feeder == nullptr ? node : *feeder->from;
    compiled.state_wires.push_back(
        {name, from.id, feeder == nullptr ? name : from.recording.states[feeder->from_state].name});
  }
  if (draft.backend == Backend::kOnnx || draft.backend == Backend::kBridgedOnnx) {
    rename_for_onnx(compiled);
  }
  if (!dry_run_) write_model(node, draft.backend, graph, compiled);
  return compiled;
}

void Compiler::write_model(const Node& node, Backend backend, const ir::Graph& graph,
                           CompiledNode& compiled) {
  Model& model = compiled.model;
  if (backend == Backend::kTorchScript) {
    const auto file = staged_.path() / (node.name + ".pt");
    torchscript::write(graph, file,
                       {.optimize = bool_param(node.backend_params, "optimize").value_or(false)});
    model.file = entry_of(file);
    model.backend = "jit";
    return;
  }
  if (backend == Backend::kExportedProgram || backend == Backend::kBridgedOnnx) {
    write_bridged(node, backend, graph, compiled);
    return;
  }
  OnnxExportOptions options;
  options.opset_version = static_cast<int>(
      int_param(node.backend_params, "opset_version").value_or(options.opset_version));
  options.optimize = bool_param(node.backend_params, "optimize").value_or(true);
  options.external_data = bool_param(node.backend_params, "external_data").value_or(false);
  options.graph_name = node.name;
  OnnxExport written = export_onnx(graph, staged_.path() / (node.name + ".onnx"), options);
  model.file = std::move(written.files.front());
  model.external_data.assign(written.files.begin() + 1, written.files.end());
  model.backend = "onnx";
  model.opset_version = options.opset_version;
}

void Compiler::write_bridged(const Node& node, Backend backend, const ir::Graph& graph,
                             CompiledNode& compiled) {
  require(static_cast<bool>(hooks().bridge), ErrorKind::kUsage,
          "node '" + node.name + "': export_with='" + *node.export_with +
              "' goes through PyTorch's Python exporters. Export from Python, or use 'onnx' or "
              "'jit'.");
  const bool onnx = backend == Backend::kBridgedOnnx;
  // The bridge names ports by the model's names, which differ from the graph's where ONNX needs it.
  ir::Graph renamed = graph;
  std::vector<ir::Graph::Output> outputs = renamed.outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].name = compiled.model.outputs[i].name;
  }
  renamed.set_outputs(std::move(outputs));
  for (std::size_t i = 0; i < renamed.inputs().size(); ++i) {
    renamed.value(renamed.inputs()[i]).name = compiled.model.inputs[i].name;
  }
  const auto file = staged_.path() / (node.name + (onnx ? ".onnx" : ".pt2"));
  hooks().bridge(*node.export_with, renamed, file, node.backend_params);
  Model& model = compiled.model;
  model.file = entry_of(file);
  model.backend = onnx ? "onnx" : "pt2";
  if (onnx) {
    model.opset_version = int_param(node.backend_params, "opset_version").value_or(20);
    const std::filesystem::path data = file.string() + ".data";
    if (std::filesystem::exists(data)) model.external_data.push_back(entry_of(data));
  } else {
    model.torch_version = options_.torch_version.value_or(TORCH_VERSION);
  }
}

std::string Compiler::name_of(const at::Tensor& tensor) const {
  if (names_.empty() || !tensor.has_storage()) return "";
  const auto it = names_.find(tensor.const_data_ptr());
  return it == names_.end() ? "" : it->second.name;
}

// State that was found by its writes is called after the buffer where a module owns it.
void Compiler::name_found_states(Node& node) const {
  std::set<std::string> taken;
  for (const NodePort& port : node.inputs) taken.insert(port.name);
  for (const NodePort& port : node.outputs) taken.insert(port.name);
  for (const trace::StateCandidate& state : node.recording.states) taken.insert(state.name);
  for (trace::StateCandidate& state : node.recording.states) {
    if (state.kind != trace::StateCandidate::Kind::kFound &&
        state.kind != trace::StateCandidate::Kind::kShared) {
      continue;
    }
    std::string name = name_of(node.recording.tape->variable(state.before).held);
    std::replace(name.begin(), name.end(), '.', '_');
    if (name.empty() || !taken.insert(name).second) continue;
    for (Sample& sample : node.samples) {
      for (MemoryUse& use : sample.memory) {
        if (use.state == state.name) use.state = name;
      }
      for (auto* states : {&sample.states_before, &sample.states_after}) {
        auto moved = states->extract(state.name);
        if (moved.empty()) continue;
        moved.key() = name;
        states->insert(std::move(moved));
      }
    }
    state.name = name;
  }
}

void Compiler::take_own_model(const Node& node, CompiledNode& compiled) {
  const auto given = text_param(node.backend_params, "model_path");
  if (!given && !node.traced) {
    say(LogLevel::kInfo, "node '" + node.name + "' is listed in non_traced: it gets no model");
    return;
  }
  if (!given) {
    say(LogLevel::kWarning,
        "node '" + node.name +
            "' has no model: give export_with=, or a model_path in backend_params; the bundle will "
            "load, but not run");
    return;
  }
  if (dry_run_) {
    compiled.model.backend = backend_of_own_model(*given, node.name);
    return;
  }
  const bool copy = bool_param(node.backend_params, "copy_original_model").value_or(true);
  session::take_own_model(*given, copy, staged_.path(), compiled.model);
}

void Compiler::write_initial_values(Bundle& bundle) const {
  if (bundle.pipeline.feedback_flow.empty()) return;
  std::vector<at::Tensor> keep;
  std::vector<NamedTensorView> values;
  for (const Wire& wire : bundle.pipeline.feedback_flow) {
    for (const PortRef& target : wire.targets) {
      const auto node = std::find_if(nodes_.begin(), nodes_.end(), [&](const CompiledNode& n) {
        return n.model.name == target.node;
      });
      const at::Tensor value = sample_input(*node, node->node->samples.front(), target.port);
      if (!value.defined()) continue;
      keep.push_back(value.to(at::kCPU).contiguous());
      values.push_back({to_string(target), interop::view_of(keep.back())});
    }
  }
  const auto file = staged_.path() / (session_.graph_name() + "_initial_values.safetensors");
  write_safetensors(file, values);
  bundle.pipeline.initial_values = entry_of(file);
}

void Compiler::write_yaml(const Bundle& bundle) const {
  const auto path = staged_.path() / (session_.graph_name() + ".yaml");
  std::ofstream file(path, std::ios::binary);
  file << to_yaml(bundle);
  file.close();
  require(file.good(), ErrorKind::kIo, path.string() + " could not be written");
}

void Compiler::draw_bundle(const Bundle& bundle) const {
  const std::string name = session_.graph_name() + ".png";
  try {
    require(!std::filesystem::is_directory(session_.folder() / name), ErrorKind::kIo,
            (session_.folder() / name).string() + " is a folder");
    draw(bundle, staged_.path() / name, session_.graph_name());
  } catch (const std::exception& error) {
    say(LogLevel::kWarning, std::string("the pipeline could not be drawn: ") + error.what());
  }
}

std::vector<NodeOutcome> Compiler::run() {
  const AsTraced as_traced(session_.nodes());
  check_complete();
  check_non_traced();
  if (session_.nodes().empty()) {
    say(LogLevel::kWarning,
        "no node was traced between leapp.start() and leapp.stop(): the bundle is empty. Run the "
        "annotated code in between.");
  }
  if (hooks().tensor_names) names_ = hooks().tensor_names();
  for (const std::string& warning : describe_rates(session_.nodes())) {
    say(LogLevel::kWarning, warning);
  }
  std::vector<Draft> drafts = draft();
  find_shared(drafts);
  std::size_t done = 0;
  const auto progress = [&](const Node& node) {
    if (options_.progress) options_.progress(done++, 2 * drafts.size(), node.name);
  };
  for (Draft& draft : drafts) {
    progress(*draft.node);
    if (draft.has_graph()) draft.pure = purify(*draft.node, draft.backend);
  }
  choose_states(drafts);
  for (Draft& draft : drafts) {
    progress(*draft.node);
    nodes_.push_back(compile(draft));
    draft.pure = {};  // a large model's constants need not be held until the last one is written
  }
  Bundle bundle;
  for (const CompiledNode& node : nodes_) bundle.models.push_back(node.model);
  bundle.pipeline = connect(nodes_);
  if (options_.graph_configs) {
    if (options_.graph_configs->frequency) {
      const double frequency = *options_.graph_configs->frequency;
      const auto whole = static_cast<std::int64_t>(frequency);
      Metadata value;
      if (static_cast<double>(whole) == frequency) {
        value.value = whole;
      } else {
        value.value = frequency;
      }
      bundle.pipeline.configs.push_back({"frequency", value});
    }
    for (const auto& entry : options_.graph_configs->extra) {
      bundle.pipeline.configs.push_back(entry);
    }
  }
  bundle.system_information = {
      options_.cuda_version,   std::string(kWrittenConfigVersion),
      LEAPP_VERSION,           operating_system(),
      options_.python_version, options_.torch_version.value_or(TORCH_VERSION)};
  if (!dry_run_) write_initial_values(bundle);
  write_yaml(bundle);
  if (options_.visualize) draw_bundle(bundle);
  for (const std::string& line : statistics(bundle)) say(LogLevel::kInfo, line);

  std::vector<NodeOutcome> outcomes;
  if (options_.validate && !dry_run_) {
    outcomes = validate_nodes(nodes_, staged_.path(), session_.folder() / "log.txt",
                              {options_.rtol, options_.atol});
    const std::string failures = describe_failures(outcomes);
    require(failures.empty() || !options_.strict, ErrorKind::kValidation,
            failures + ". " + first_sign(outcomes) + "Nothing was written; " +
                (session_.folder() / "log.txt").string() +
                " has the details, and strict=False keeps the files for a closer look.");
    const std::string difference =
        failures.empty() ? describe_difference(nodes_, bundle.pipeline) : std::string();
    if (!difference.empty()) say(LogLevel::kWarning, difference);
  } else if (options_.validate) {
    for (const CompiledNode& node : nodes_) outcomes.push_back({.node = node.model.name});
  }
  staged_.commit();
  say(LogLevel::kInfo, (dry_run_ ? "Dry run: the structure, without models and their validation, "
                                   "was written to "
                                 : "Bundle written to ") +
                           session_.folder().string());
  return outcomes;
}

}  // namespace
}  // namespace session

std::vector<NodeOutcome> compile_graph(const CompileOptions& options) {
  session::Session& session = session::Session::instance();
  require(!session.active(), ErrorKind::kUsage,
          "Call leapp.stop() before leapp.compile_graph(): the session is still tracing.");
  require(session.started_once(), ErrorKind::kUsage,
          "there is nothing to compile: call leapp.start(), run the annotated code, then "
          "leapp.stop().");
  // Also when the export fails: log.txt then has the details.
  struct FlushLog {
    session::Session& session;
    ~FlushLog() { session.flush_log(); }
  };
  const FlushLog flush{session};
  return session::Compiler(session, options).run();
}

}  // namespace leapp
