#include "rehearse/rollout.h"

#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "base/find.h"
#include "base/log.h"
#include "bundle/wiring.h"
#include "interop/convert.h"
#include "rehearse/model_engine.h"
#include "rehearse/model_run.h"
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
  bool last_tick = false;  // with a schedule: the value from before the tick
  bool by_passes = false;  // with a schedule: its age counts in passes, since states delay it
  std::size_t first = 0;   // the first pass that received a value
  trace::FrameRef where = {};
  const State* state = nullptr;  // the state of this input; nullptr: it is a port of the node
  bool only_carried = false;     // from run to run in a tick
};

// One node during the rollout.
struct Runner {
  const ExportedNode* node = nullptr;
  bool runs = false;         // its model
  std::string not_compared;  // why its values are not compared; empty if they are
  NodeValidation report;
  std::unique_ptr<Engine> engine = {};
  std::vector<std::optional<IncomingWire>> incoming_wires = {};  // by input of the model
  // By input: the output of the run before that later runs of a tick read.
  std::vector<std::optional<std::size_t>> carried_outputs = {};
  std::vector<Tensors> put_out = {};  // by pass, on the host
  std::vector<RolloutSample> samples = {};
};

class Roller {
 public:
  Roller(const std::vector<ExportedNode>& nodes, const std::filesystem::path& folder,
         const std::filesystem::path& log_path, const Tolerance& tolerance,
         const state::Ticks& ticks, session::ExternalBackend* external,
         const Checkpoint& checkpoint);

  void connect(const Bundle& bundle);
  Rollout run() &&;

 private:
  std::optional<IncomingWire> incoming_wire(const ExportedNode& to, const std::string& input,
                                            const PortRef& source, int ticks) const;
  void step(Runner& runner);
  Tensors inputs_of(const Runner& runner);
  void run_passes();
  void run_ticks();
  IncomingWire from_run_before(const ExportedNode& node, std::size_t output) const;
  at::Tensor carried_by(const Runner& reader, std::size_t input) const;
  at::Tensor carried_by(const IncomingWire& incoming) const;
  at::Tensor carried_in_tick(const Runner& reader, std::size_t input,
                             const IncomingWire& incoming) const;
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
  const state::Ticks& ticks_;
  session::ExternalBackend* external_;  // or null
  const Checkpoint& checkpoint_;
  std::vector<Runner> runners_;
  std::size_t pass_ = 0;
  Rollout done_;
};

Roller::Roller(const std::vector<ExportedNode>& nodes, const std::filesystem::path& folder,
               const std::filesystem::path& log_path, const Tolerance& tolerance,
               const state::Ticks& ticks, session::ExternalBackend* external,
               const Checkpoint& checkpoint)
    : nodes_(nodes),
      folder_(folder),
      in_place_(have_many_weights(nodes, folder)),
      tolerance_(tolerance),
      ticks_(ticks),
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
    runner.carried_outputs.resize(model.inputs.size());
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
  for (const NodeSchedule& entry : bundle.pipeline.schedule) {
    Runner& runner = runners_[index_of(entry.node)];
    const Model& model = runner.node->model;
    for (const auto& [output, input] : entry.carry) {
      const std::size_t index = index_in(model.inputs, input, &Port::name).value();
      runner.carried_outputs[index] = index_in(model.outputs, output, &Port::name);
      if (runner.incoming_wires[index]) continue;
      runner.incoming_wires[index] = from_run_before(*runner.node, *runner.carried_outputs[index]);
    }
  }
}

// An input that only later runs of a tick receive from the node itself.
IncomingWire Roller::from_run_before(const ExportedNode& node, std::size_t output) const {
  return {.from = index_of(node.model.name),
          .output = output,
          .source = {node.model.name, node.model.outputs[output].name},
          .distance = 1,
          .where = node.node().passes.back().opened_at,
          .only_carried = true};
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
    if (from == nullptr || (!distance && ticks_.empty())) return std::nullopt;
    const session::Age::Read& first = declared->age.first();
    output = declared->source->port;
    incoming = {.source = {from->model.name, output},
                .distance = distance.value_or(ticks),
                .last_tick = ticks > 0,
                .by_passes = to.states.received.contains(input),
                .first = static_cast<std::size_t>(first.pass),
                .where = first.where};
  } else {
    const State* state = to.find_state(input);
    if (state == nullptr || state->origin == Origin::kDelayed) return std::nullopt;
    output = find_node(nodes_, source.node)->output_name(source.port);
    incoming = {.source = source,
                .distance = ticks,
                .last_tick = ticks > 0,
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

void Roller::run_passes() {
  std::size_t passes = 0;
  for (const ExportedNode& node : nodes_) passes = std::max(passes, node.node().passes.size());
  for (pass_ = 0; pass_ < passes; ++pass_) {
    for (Runner& runner : runners_) {
      checkpoint_();
      if (pass_ < runner.node->node().passes.size()) step(runner);
    }
  }
}

// The nodes are in the order in which a tick runs them.
void Roller::run_ticks() {
  for (int tick = 0; tick <= ticks_.count(); ++tick) {  // the trace may end within a tick
    for (Runner& runner : runners_) {
      const Node& node = runner.node->node();
      const state::Ticks::Turn* const turn = ticks_.turn_in(node.id, tick);
      if (turn == nullptr) continue;
      const auto end = std::min(static_cast<std::size_t>(turn->last) + 1, node.passes.size());
      for (pass_ = static_cast<std::size_t>(turn->first); pass_ < end; ++pass_) {
        checkpoint_();
        step(runner);
      }
    }
  }
}

Rollout Roller::run() && {
  ticks_.empty() ? run_passes() : run_ticks();
  checkpoint_();  // before reporting a run that an interrupt may have disturbed
  for (Runner& runner : runners_) {
    done_.outcomes.push_back(finish(runner));
    done_.engines.push_back(std::move(runner.engine));
    done_.samples.push_back(std::move(runner.samples));
  }
  return std::move(done_);
}

// The value that an input receives in the bundle; undefined if it is not known.
at::Tensor Roller::carried_by(const Runner& reader, std::size_t input) const {
  const std::optional<IncomingWire>& incoming = reader.incoming_wires[input];
  if (!incoming) return {};
  const bool in_passes = ticks_.empty() || incoming->by_passes;
  return in_passes ? carried_by(*incoming) : carried_in_tick(reader, input, *incoming);
}

at::Tensor Roller::carried_in_tick(const Runner& reader, std::size_t input,
                                   const IncomingWire& incoming) const {
  const auto output_of = [&](const Runner& from, std::size_t pass, std::size_t output) {
    return pass < from.put_out.size() ? from.put_out[pass][output] : at::Tensor();
  };
  const state::Ticks::Turn& turn = *ticks_.turn_of(reader.node->node().id, static_cast<int>(pass_));
  if (pass_ > static_cast<std::size_t>(turn.first)) {
    const std::optional<std::size_t>& carried = reader.carried_outputs[input];
    return carried ? output_of(reader, pass_ - 1, *carried) : at::Tensor();
  }
  if (incoming.only_carried) return {};
  const Runner& from = runners_[incoming.from];
  const state::Ticks::Turn* const sent =
      ticks_.latest(from.node->node().id, turn.tick - (incoming.last_tick ? 1 : 0));
  if (sent != nullptr)
    return output_of(from, static_cast<std::size_t>(sent->last), incoming.output);
  return on_host(reader.node->input_value(0, reader.node->input_names[input]));
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
  std::string text =
      "the pipeline will not repeat the trace: in pass " + std::to_string(pass_ + 1) +
      " of node '" + reader.name + "' its " + (incoming.state != nullptr ? "state '" : "input '") +
      to.model.inputs[input].name + "' was not the value that " + to_string(incoming.source) +
      " had returned" +
      (incoming.distance == 0   ? ""
       : incoming.distance == 1 ? " in the pass before"
                                : " earlier") +
      ", which the wire carries (largest difference " + largest_difference(traced, carried) + "). ";
  text += "The program changes it between the passes. Move that computation into a node.";
  if (incoming.distance > 0) {
    text +=
        " If the program sets the state, for example at the start of an episode, call "
        "InferenceManager.set_input_value() at run time.";
  }
  done_.difference = state::warning(Code::kHandover, incoming.where, reader.name, std::move(text));
}

Tensors Roller::inputs_of(const Runner& runner) {
  Tensors inputs;
  for (std::size_t i = 0; i < runner.incoming_wires.size(); ++i) {
    const std::string& name = runner.node->input_names[i];
    const std::optional<IncomingWire>& incoming = runner.incoming_wires[i];
    const at::Tensor traced = on_host(runner.node->input_value(pass_, name));
    const at::Tensor carried = carried_by(runner, i);
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
                 const Tolerance& tolerance, const state::Ticks& ticks,
                 session::ExternalBackend* external, const Checkpoint& checkpoint) {
  Roller roller(nodes, folder, log_path, tolerance, ticks, external, checkpoint);
  roller.connect(bundle);
  return std::move(roller).run();
}

}  // namespace leapp::rehearse
