#include "rehearse/rollout.h"

#include <ATen/ops/sub.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/check.h"
#include "base/log.h"
#include "build/compiled_model.h"
#include "build/source_compiler.h"
#include "bundle/wiring.h"
#include "interop/convert.h"
#include "rehearse/model_run.h"
#include "runtime/engines/in_place.h"
#include "state/names.h"
#include "validate/node_validation.h"

namespace leapp::rehearse {
namespace {

using Origin = State::Origin;

// The source of an input of a model, and the age of its value in passes.
struct IncomingWire {
  std::size_t from = 0;    // index of the node
  std::size_t output = 0;  // index of the port in its model
  PortRef source = {};     // for the message
  int distance = 0;
  std::size_t first = 0;  // the first pass that received a value
  trace::FrameRef where = {};
  const State* state = nullptr;  // the state of this input; nullptr: it is a port of the node
};

// One node during the rollout.
struct Runner {
  const ExportedNode* node = nullptr;
  bool runs = false;         // its model
  std::string not_compared;  // why its values are not compared; empty if they are
  NodeValidation report;
  std::unique_ptr<Engine> engine = {};
  std::vector<std::optional<IncomingWire>> incoming_wires = {};  // by input of the model
  std::vector<Tensors> put_out = {};                             // by pass, on the host
  std::vector<RolloutSample> samples = {};
};

// Returns why a model cannot be run here; empty if it can.
std::string why_not_run(const Model& model, bool has_external) {
  if (model.backend == "pt2" && !has_external) {
    return "it is a torch.export program, which only Python can run";
  }
  if (model.backend == "cpp" && find_compiler().empty()) {
    return "it is C++, but there is no compiler. Install one ('apt-get install g++'), or name it "
           "with CXX";
  }
  return {};
}

// For exports above this size, the weights are used from the files, because copying them costs more
// than slower ticks. Smaller exports run exactly as on the robot.
constexpr std::uintmax_t kManyWeights = std::uintmax_t{64} << 20;

bool have_many_weights(const std::vector<ExportedNode>& nodes,
                       const std::filesystem::path& folder) {
  std::uintmax_t bytes = 0;
  const auto add = [&](const FileEntry& file) {
    std::error_code missing;
    const std::uintmax_t size = std::filesystem::file_size(folder / file.path, missing);
    if (!missing) bytes += size;
  };
  for (const ExportedNode& node : nodes) {
    if (node.model.file) add(*node.model.file);
    for (const FileEntry& file : node.model.external_data) add(file);
  }
  return bytes >= kManyWeights;
}

std::unique_ptr<Engine> engine_of(const ExportedNode& node, const std::filesystem::path& file,
                                  bool in_place, Trust trust) {
  if (node.model.backend == "cpp") return compile_cpp_model(node.model, file);
  if (in_place && node.ours) return load_engine_in_place(node.model, file, trust);
  return load_engine(node.model, file, {}, trust);  // the user's own, or small
}

// Reports that a robot loads the model only with trust, in the loader's words.
Diagnostic needs_trust(const std::string& node, const std::filesystem::path& folder,
                       const Error& refusal) {
  std::string text = refusal.text();
  const std::string prefix = folder.string() + "/";  // a temporary directory
  if (const std::size_t at = text.find(prefix); at != text.npos) text.erase(at, prefix.size());
  return state::warning(Code::kNotTrusted, {}, node, std::move(text));
}

std::string size_of_difference(const at::Tensor& a, const at::Tensor& b) {
  std::ostringstream text;
  const at::ScalarType type = at::isComplexType(a.scalar_type()) ? at::kComplexDouble : at::kDouble;
  text << at::sub(a.to(type), b.to(type)).abs().max().item().toDouble();
  return text.str();
}

class Roller {
 public:
  Roller(const std::vector<ExportedNode>& nodes, const std::filesystem::path& folder,
         const std::filesystem::path& log_path, const Tolerance& tolerance,
         session::ExternalBackend* external, const Checkpoint& checkpoint);

  void connect(const Bundle& bundle);
  Rollout run() &&;

 private:
  std::optional<IncomingWire> incoming_wire(const ExportedNode& to, const std::string& input,
                                            const PortRef& source, int ticks) const;
  void step(Runner& runner);
  Tensors inputs_of(const Runner& runner);
  at::Tensor carried_by(const IncomingWire& incoming) const;
  bool same(const IncomingWire& incoming, const at::Tensor& a, const at::Tensor& b) const;
  void check_carried(const Runner& runner, std::size_t input, const at::Tensor& traced,
                     const at::Tensor& carried);
  std::unique_ptr<Engine> load(const ExportedNode& node, const std::filesystem::path& file);
  Tensors run(Runner& runner, const Tensors& inputs);
  Tensors traced_outputs(const ExportedNode& node, const Tensors& exported) const;
  NodeOutcome finish(Runner& runner) const;

  std::size_t index_of(const std::string& node) const {
    return static_cast<std::size_t>(find_node(nodes_, node) - nodes_.data());
  }

  const std::vector<ExportedNode>& nodes_;
  const std::filesystem::path& folder_;
  bool in_place_;  // weights are used from the files
  Tolerance tolerance_;
  session::ExternalBackend* external_;  // or null
  const Checkpoint& checkpoint_;
  std::vector<Runner> runners_;
  std::size_t pass_ = 0;
  Rollout done_;
};

Roller::Roller(const std::vector<ExportedNode>& nodes, const std::filesystem::path& folder,
               const std::filesystem::path& log_path, const Tolerance& tolerance,
               session::ExternalBackend* external, const Checkpoint& checkpoint)
    : nodes_(nodes),
      folder_(folder),
      in_place_(have_many_weights(nodes, folder)),
      tolerance_(tolerance),
      external_(external),
      checkpoint_(checkpoint) {
  for (const ExportedNode& node : nodes) {
    const Model& model = node.model;
    const std::string why_not = why_not_run(model, external != nullptr);
    Runner& runner = runners_.emplace_back(
        Runner{&node, model.file && why_not.empty(), why_not,
               NodeValidation(model.name, node.output_names, tolerance, log_path.string())});
    if (why_not.empty() && node.random) {
      runner.not_compared =
          "it draws random numbers, so its outputs differ in every run. Its model was run, but its "
          "values were not compared";
    }
    runner.report.set_precisions(node.output_precisions);
    runner.incoming_wires.resize(model.inputs.size());
  }
}

void Roller::connect(const Bundle& bundle) {
  const Wiring wiring(bundle);
  for (const Wiring::Connection& wire : wiring.connections()) {
    Runner& runner = runners_[index_of(bundle.models[wire.target.node].name)];
    const std::size_t input = wire.target.port;
    runner.incoming_wires[input] =
        incoming_wire(*runner.node, runner.node->input_names[input],
                      output_ref(bundle, wire.source), wire.last_tick ? 1 : 0);
  }
}

std::optional<IncomingWire> Roller::incoming_wire(const ExportedNode& to, const std::string& input,
                                                  const PortRef& source, int ticks) const {
  IncomingWire incoming;
  std::string output;  // as annotated
  const NodePort* declared = session::find_port(to.node().inputs, input);
  if (declared != nullptr && declared->source) {
    // Also if states are between the input and its source.
    const ExportedNode* from = find_node(nodes_, declared->source->node);
    const std::optional<int> distance = declared->age.distance();
    if (from == nullptr || !distance) return std::nullopt;
    const session::Age::Read& first = declared->age.first();
    output = declared->source->port;
    incoming = {.source = {from->model.name, output},
                .distance = *distance,
                .first = static_cast<std::size_t>(first.pass),
                .where = first.where};
  } else {
    const State* state = to.find_state(input);
    if (state == nullptr || state->origin == Origin::kDelayed) return std::nullopt;
    output = find_node(nodes_, source.node)->output_name(source.port);
    incoming = {.source = source,
                .distance = ticks,
                .where = to.node().passes.back().opened_at,
                .state = state};
  }
  incoming.from = index_of(incoming.source.node);
  const std::vector<std::string>& names = nodes_[incoming.from].output_names;
  const auto name = std::ranges::find(names, output);
  if (name == names.end()) return std::nullopt;
  incoming.output = static_cast<std::size_t>(name - names.begin());
  return incoming;
}

Rollout Roller::run() && {
  std::size_t passes = 0;
  for (const ExportedNode& node : nodes_) passes = std::max(passes, node.node().passes.size());
  for (pass_ = 0; pass_ < passes; ++pass_) {
    for (Runner& runner : runners_) {
      checkpoint_();
      if (pass_ < runner.node->node().passes.size()) step(runner);
    }
  }
  checkpoint_();  // before reporting a run that an interrupt may have disturbed
  for (Runner& runner : runners_) {
    done_.outcomes.push_back(finish(runner));
    done_.engines.push_back(std::move(runner.engine));
    done_.samples.push_back(std::move(runner.samples));
  }
  return std::move(done_);
}

// The value that a wire carries in this pass; undefined if its source has not run.
at::Tensor Roller::carried_by(const IncomingWire& incoming) const {
  const std::vector<Tensors>& put_out = runners_[incoming.from].put_out;
  const auto at = static_cast<std::ptrdiff_t>(pass_) - incoming.distance;
  if (pass_ < incoming.first || at < 0 || at >= std::ssize(put_out)) return {};
  return put_out[static_cast<std::size_t>(at)][incoming.output];
}

bool Roller::same(const IncomingWire& incoming, const at::Tensor& a, const at::Tensor& b) const {
  const std::vector<DType>& precisions = nodes_[incoming.from].output_precisions;
  return agree(a, b, tolerance_for(precisions, incoming.output, tolerance_));
}

// Returns whether an input differs from its wire, unless it has its initial value again.
void Roller::check_carried(const Runner& runner, std::size_t input, const at::Tensor& traced,
                           const at::Tensor& carried) {
  const IncomingWire& incoming = *runner.incoming_wires[input];
  const ExportedNode& to = *runner.node;
  if (done_.difference || same(incoming, traced, carried)) return;
  const std::size_t begun = std::min(std::max<std::size_t>(incoming.first, 1), pass_);
  for (std::size_t i = 0; incoming.distance > 0 && i < begun; ++i) {
    const at::Tensor then = on_host(to.input_value(i, to.input_names[input]));
    if (then.defined() && same(incoming, traced, then)) return;
  }
  const Node& reader = to.node();
  const Node& source = nodes_[incoming.from].node();
  std::string text =
      "the pipeline will not repeat the trace: in pass " + std::to_string(pass_ + 1) +
      " of node '" + reader.name + "' its " + (incoming.state != nullptr ? "state '" : "input '") +
      to.model.inputs[input].name + "' was not the value that " + to_string(incoming.source) +
      " had returned" +
      (incoming.distance == 0   ? ""
       : incoming.distance == 1 ? " in the pass before"
                                : " earlier") +
      ", which the wire carries (largest difference " + size_of_difference(traced, carried) + "). ";
  if (std::abs(reader.completed - source.completed) > 1) {
    text += "Node '" + source.name + "' ran " + std::to_string(source.completed) + " times and '" +
            reader.name + "' " + std::to_string(reader.completed) +
            " times while tracing, but a bundle runs every node once per tick. Run both once per "
            "tick, or export the slower node as a separate bundle.";
  } else {
    text += "The program changes it between the passes. Move that computation into a node.";
    if (incoming.distance > 0) {
      text +=
          " If the program sets the state, for example at the start of an episode, call "
          "InferenceManager.set_input_value() at run time.";
    }
  }
  done_.difference = state::warning(Code::kHandover, incoming.where, reader.name, std::move(text));
}

Tensors Roller::inputs_of(const Runner& runner) {
  Tensors inputs;
  for (std::size_t i = 0; i < runner.incoming_wires.size(); ++i) {
    const std::string& name = runner.node->input_names[i];
    const std::optional<IncomingWire>& incoming = runner.incoming_wires[i];
    const at::Tensor traced = on_host(runner.node->input_value(pass_, name));
    const at::Tensor carried = incoming ? carried_by(*incoming) : at::Tensor();
    // Inferred state has no recorded value except the one of its hypothesis, which is unknown if
    // the program wrote to it in between.
    const bool is_found =
        incoming && incoming->state && incoming->state->origin == Origin::kCarried;
    const bool is_kept =
        is_found && pass_ > 0 && incoming->state->per_pass[pass_ - 1].after.defined();
    if (carried.defined() && (is_kept || !traced.defined())) {
      inputs.push_back(carried);
      continue;
    }
    const Port& port = runner.node->model.inputs[i];
    require(traced.defined(), Code::kInternal, "no traced value for input '" + name + "'");
    require(traced.sizes() == at::IntArrayRef(port.shape) &&
                traced.scalar_type() == interop::to_scalar_type(port.dtype),
            Code::kValidationFailed,
            "the pass differs from the exported one, and its state does not match");
    if (carried.defined()) check_carried(runner, i, traced, carried);
    inputs.push_back(traced);
  }
  return inputs;
}

// Loads a model as a robot does. The user's own operators are trusted here, but not by a robot.
std::unique_ptr<Engine> Roller::load(const ExportedNode& node, const std::filesystem::path& file) {
  try {
    return engine_of(node, file, in_place_, Trust::kData);
  } catch (const Error& error) {
    if (error.code() != Code::kNotTrusted) throw;
    done_.untrusted.push_back(needs_trust(node.model.name, folder_, error));
  }
  return engine_of(node, file, in_place_, Trust::kCode);
}

Tensors Roller::run(Runner& runner, const Tensors& inputs) {
  const Model& model = runner.node->model;
  const std::filesystem::path file = folder_ / model.file->path;
  if (model.backend == "pt2") {
    Tensors outputs = external_->run(file, inputs);
    for (at::Tensor& output : outputs) output = on_host(output);
    return outputs;
  }
  if (!runner.engine) runner.engine = load(*runner.node, file);
  return run_model(*runner.engine, model, inputs);
}

// The output of the pass, or the model's output if the pass did not record it.
Tensors Roller::traced_outputs(const ExportedNode& node, const Tensors& exported) const {
  Tensors outputs;
  for (std::size_t i = 0; i < node.output_names.size(); ++i) {
    outputs.push_back(on_host(node.output_value(pass_, node.output_names[i])));
    if (!outputs.back().defined() && !exported.empty()) outputs.back() = exported[i];
  }
  return outputs;
}

void Roller::step(Runner& runner) {
  Tensors inputs;
  Tensors exported;
  try {
    inputs = inputs_of(runner);
    if (runner.runs) exported = run(runner, inputs);
  } catch (const std::exception& error) {
    runner.report.add_error(pass_, error.what());
  }
  const Tensors traced = traced_outputs(*runner.node, exported);
  const bool compared = !exported.empty() && runner.not_compared.empty();
  if (compared) {
    runner.report.add_sample(pass_, views_of(traced), views_of(exported));
    runner.samples.push_back({pass_, std::move(inputs), traced});
  }
  if (!exported.empty() && !compared) runner.report.add_run(pass_);
  runner.put_out.push_back(compared ? std::move(exported) : traced);
}

NodeOutcome Roller::finish(Runner& runner) const {
  const Model& model = runner.node->model;
  if (model.file) return runner.report.finish(runner.not_compared);
  log(LogLevel::kInfo, "node '" + model.name + "' has no model to validate");
  return {.node = model.name};  // treated as successful
}

}  // namespace

Rollout roll_out(const std::vector<ExportedNode>& nodes, const Bundle& bundle,
                 const std::filesystem::path& folder, const std::filesystem::path& log_path,
                 const Tolerance& tolerance, session::ExternalBackend* external,
                 const Checkpoint& checkpoint) {
  Roller roller(nodes, folder, log_path, tolerance, external, checkpoint);
  roller.connect(bundle);
  return std::move(roller).run();
}

}  // namespace leapp::rehearse
