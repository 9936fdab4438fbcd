#include "rehearse/counter_examples.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <sstream>

#include "base/log.h"
#include "interop/convert.h"
#include "rehearse/model_run.h"
#include "rehearse/unseen_inputs.h"
#include "session/front_end_interface.h"
#include "trace/inside.h"
#include "trace/replayer.h"
#include "trace/source.h"

namespace leapp::rehearse {
namespace {

using Duration = std::chrono::nanoseconds;

// The traced and the exported node, for comparison.
class Contest {
 public:
  Contest(const ExportedNode& node, Engine& engine, const CounterExampleOptions& options)
      : node_(node),
        engine_(engine),
        tolerance_(options.tolerance),
        front_end_(options.front_end),
        reruns_(std::ranges::count(options.rerun, node.model.name) > 0),
        slots_(state::slots_of(node.states.states)),
        recording_(state::recording_of(node.states)) {}

  /// Returns whether the two can be compared at all.
  bool is_fair();
  /// Tries inputs of one kind. Returns the difference as text, or "".
  std::string run(Unseen kind, std::string_view kind_name, at::Generator& random);
  const std::string& port() const { return port_; }
  /// Returns the difference of the node's own function as text, or "".
  const std::string& baked() const { return baked_; }
  std::string where() const;

 private:
  // Inputs: for each port of the recording, then for each slot. Outputs: for each output of the
  // model.
  struct Trial {
    Unseen kind;
    Tensors inputs;
    Tensors traced = {};  // undefined if the recording does not have it
    Tensors model = {};
  };

  bool runs_the_same_anywhere() const;
  std::string try_inputs(Trial trial, std::string_view kind_name, at::Generator& random);
  Tensors trace(const Tensors& inputs) const;
  Tensors exported(const Tensors& inputs) const;
  Tensors call_function(const Trial& trial) const;
  std::string difference(const Trial& trial, const Tensors& right, at::Generator& random);
  std::string describe_error(const Trial& trial, std::size_t output, const at::Tensor& right,
                             at::Generator& random) const;

  const ExportedNode& node_;
  Engine& engine_;
  Tolerance tolerance_;
  session::FrontEnd* front_end_;  // or null
  bool reruns_;                   // the user allowed calls of the node's function
  std::vector<trace::StateSlot> slots_;
  trace::Recording recording_;
  std::vector<Tensors> seen_;  // values of each port and each slot in the passes
  // For each port of the model its index among the recording's ports, followed by the slots; for an
  // output that is a constant, nothing.
  std::vector<std::size_t> input_places_;
  std::vector<std::optional<std::size_t>> output_places_;
  std::string port_;
  std::string baked_;
};

std::optional<std::size_t> place_of(const std::string& name,
                                    const std::vector<trace::Recording::Port>& ports,
                                    const std::vector<trace::StateSlot>& slots) {
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name == name) return i;
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].name == name) return ports.size() + i;
  }
  return std::nullopt;
}

// Returns whether a factorisation reports failure by a number that nothing reads; its results are
// then unspecified on failure.
bool leaves_failure_to_the_caller(const trace::Recording& recording) {
  bool tells = false;
  bool checked = false;
  for (const std::int32_t index : recording.calls) {
    const trace::Call& call = recording.tape->call(index);
    const std::string& name = call.op.operator_name().name;
    tells |= name.starts_with("aten::linalg_") && name.ends_with("_ex");
    checked |= name == "aten::_linalg_check_errors";
  }
  return tells && !checked;
}

bool Contest::is_fair() {
  if (node_.random || !node_.states.opening.empty() || !node_.states.received.empty()) return false;
  for (const std::string& name : node_.input_names) {
    const auto place = place_of(name, recording_.inputs, slots_);
    if (!place) return false;
    input_places_.push_back(*place);
  }
  for (const std::string& name : node_.output_names) {
    output_places_.push_back(place_of(name, recording_.outputs, slots_));
  }
  for (const trace::Recording::Port& port : recording_.inputs) {
    Tensors& values = seen_.emplace_back();
    for (std::size_t pass = 0; pass < node_.node().passes.size(); ++pass) {
      values.push_back(node_.input_value(pass, port.name));
    }
  }
  for (const State& state : node_.states.states) {
    Tensors& values = seen_.emplace_back();
    for (const State::Values& each : state.per_pass) {
      if (each.before.defined()) values.push_back(each.before);
    }
    if (values.empty()) return false;
  }
  return runs_the_same_anywhere() && !leaves_failure_to_the_caller(recording_);
}

// Custom operators and data-dependent sizes are not supported.
bool Contest::runs_the_same_anywhere() const {
  const trace::Tape& tape = *recording_.tape;
  return std::ranges::all_of(recording_.calls, [&](std::int32_t index) {
    const trace::Call& call = tape.call(index);
    bool fixed = trace::is_aten(call.op);
    trace::for_each_result(tape, call, [&](trace::VarId var) {
      fixed &= var == trace::kNoId || tape.variable(var).dynamic == 0;
    });
    return fixed;
  });
}

// Returns the results of the recorded operators. Throws if they reject the inputs.
Tensors Contest::trace(const Tensors& inputs) const {
  const auto slots = inputs.begin() + std::ssize(recording_.inputs);
  trace::Replay::Values values =
      trace::Replay(recording_, slots_).run({inputs.begin(), slots}, {slots, inputs.end()});
  const std::size_t ports = recording_.outputs.size();
  Tensors traced;
  for (const std::optional<std::size_t>& place : output_places_) {
    const bool known = place.has_value();
    traced.push_back(!known           ? at::Tensor()
                     : *place < ports ? on_host(values.outputs[*place])
                                      : on_host(values.after[*place - ports]));
  }
  return traced;
}

Tensors Contest::exported(const Tensors& inputs) const {
  Tensors given;
  for (const std::size_t place : input_places_) given.push_back(on_host(inputs[place]));
  return run_model(engine_, node_.model, given);
}

// Kernels that convert the largest numbers to indices or counts have unspecified results. A real
// error there must also show for smaller large numbers.
std::string Contest::run(Unseen kind, std::string_view kind_name, at::Generator& random) {
  Tensors inputs;
  for (const Tensors& seen : seen_) inputs.push_back(make_unseen(kind, seen, random));
  const std::string what = try_inputs({kind, inputs}, kind_name, random);
  if (what.empty() || kind != Unseen::kExtreme) return what;
  for (at::Tensor& each : inputs) each = limit_magnitude(each);
  return try_inputs({kind, inputs}, kind_name, random);
}

std::string Contest::try_inputs(Trial trial, std::string_view kind_name, at::Generator& random) {
  try {
    trial.traced = trace(trial.inputs);
  } catch (const std::exception&) {
    return {};  // the program also rejects such inputs
  }
  trial.model = exported(trial.inputs);
  const std::string inputs = "on inputs that were never traced (" + std::string(kind_name) + ") ";
  const std::string what = difference(trial, trial.traced, random);
  if (!what.empty()) {
    return inputs + "the model's '" + port_ + "' differs from the traced operators: " + what;
  }
  if (!baked_.empty()) return {};
  const std::string other = difference(trial, call_function(trial), random);
  if (other.empty()) return {};
  baked_ = inputs + "the function returns a different '" + port_ + "' than its model: " + other;
  return {};
}

// Only functions without state and random draws can be called, because the program keeps its own
// state and draws its own numbers.
Tensors Contest::call_function(const Trial& trial) const {
  Tensors outputs(trial.model.size());
  const auto drawn = [](const session::NodePort& input) { return input.is_drawn; };
  if (!reruns_ || !slots_.empty() || front_end_ == nullptr ||
      std::ranges::any_of(node_.node().inputs, drawn)) {
    return outputs;
  }
  std::map<std::string, at::Tensor> given;
  for (std::size_t i = 0; i < recording_.inputs.size(); ++i) {
    given.emplace(recording_.inputs[i].name, trial.inputs[i].clone());
  }
  const auto named = front_end_->rerun(node_.model.name, given);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto found = named.find(node_.output_names[i]);
    if (found != named.end()) outputs[i] = on_host(found->second.detach());
  }
  return outputs;
}

// Returns the error of the first output that differs, as text, or "". An output that the recording
// does not have is a constant, and an unknown output cannot differ.
std::string Contest::difference(const Trial& trial, const Tensors& right, at::Generator& random) {
  for (std::size_t i = 0; i < trial.model.size(); ++i) {
    const at::Tensor& model = trial.model[i];
    if (!trial.traced[i].defined() || !right[i].defined()) continue;
    if (right[i].sizes() != model.sizes() || right[i].scalar_type() != model.scalar_type())
      continue;
    const std::string error = describe_error(trial, i, right[i], random);
    if (error.empty()) continue;
    port_ = node_.output_names[i];
    return error;
  }
  return {};
}

// Returns whether a difference is more than rounding. The traced operators run on slightly changed
// inputs, which shows how much the results vary. If a result jumps there, as argmax does for equal
// elements, several results are correct.
std::string Contest::describe_error(const Trial& trial, std::size_t output, const at::Tensor& right,
                                    at::Generator& random) const {
  const Tolerance tolerance = tolerance_for(node_.output_precisions, output, tolerance_);
  if (agree(right, trial.model[output], tolerance)) return {};
  const at::Tensor source = right.to(at::kDouble);
  const at::Tensor found = trial.model[output].to(at::kDouble);
  const at::Tensor exact = trial.traced[output].to(at::kDouble);
  at::Tensor spread = at::zeros({}, at::kDouble);
  at::Tensor steady = source.isfinite();
  for (int i = 0; i < 3; ++i) {
    Tensors inputs;
    for (const at::Tensor& each : trial.inputs) inputs.push_back(nudged(each, random));
    at::Tensor near;
    try {
      near = trace(inputs)[output].to(at::kDouble);
    } catch (const std::exception&) {
      return {};
    }
    steady = steady.logical_and(near.isfinite());
    const at::Tensor apart = near.sub(exact).abs();
    spread = at::maximum(spread, apart.masked_select(apart.isfinite()).sum());
  }
  if (trial.kind == Unseen::kExtreme) steady = steady.logical_and(found.isfinite());
  // If the result is discontinuous here, any value is acceptable.
  const at::Tensor judged = at::where(steady, found, source);
  const Tolerance rounding{tolerance.rtol, tolerance.atol + 10 * spread.item<double>()};
  const Comparison comparison =
      compare_in_full(interop::view_of(source), interop::view_of(judged), rounding);
  if (comparison.passed()) return {};
  const double largest = std::abs(comparison.worst.exported - comparison.worst.traced);
  std::ostringstream text;
  if (std::isnan(largest)) {
    text << "one of the two is NaN";
  } else {
    text << "error " << largest;
  }
  text << " (" << to_string(tolerance) << ")";
  return text.str();
}

// The line that computed the output that differs.
std::string Contest::where() const {
  for (const trace::Recording::Port& output : recording_.outputs) {
    if (output.name != port_ || output.var == trace::kNoId) continue;
    const std::int32_t call = recording_.tape->variable(output.var).call;
    if (call < 0) break;
    return trace::resolve_source(recording_.tape->call(call).frame).to_string();
  }
  return {};
}

// The CPU time of this thread.
Duration worked() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + Duration(now.tv_nsec);
}

// Tries every kind of inputs within the time limit; does not start a trial that is expected to
// exceed it.
std::string try_node(Contest& contest, const CounterExampleOptions& options, Duration began) {
  at::Generator random = at::detail::createCPUGenerator(1);
  Duration longest{};
  for (int round = 0; round < options.rounds; ++round) {
    for (const auto& [kind, name] : kUnseenKinds) {
      const Duration start = worked();
      if (options.budget && start - began + longest > *options.budget) return {};
      options.checkpoint();
      std::string what;
      try {
        what = contest.run(kind, name, random);
      } catch (const std::exception& error) {
        what =
            std::string("on inputs that were never traced the model does not run: ") + error.what();
        options.checkpoint();  // an interrupt may be the reason
      }
      if (!what.empty()) return what;
      longest = std::max(longest, worked() - start);
    }
  }
  return {};
}

}  // namespace

CounterExampleOptions trials_for(const Tolerance& tolerance, bool thorough,
                                 std::chrono::steady_clock::time_point began) {
  if (thorough) return {.tolerance = tolerance, .rounds = 20};
  const Duration fifth = (std::chrono::steady_clock::now() - began) / 5;
  return {.tolerance = tolerance,
          .budget = std::max<Duration>(fifth, std::chrono::milliseconds(50))};
}

std::vector<Diagnostic> try_unseen_inputs(const std::vector<ExportedNode>& nodes,
                                          const std::vector<std::unique_ptr<Engine>>& engines,
                                          const CounterExampleOptions& options,
                                          std::vector<NodeOutcome>& outcomes) {
  std::vector<Diagnostic> warnings;
  const Duration began = worked();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].ours || !engines[i] || !outcomes[i].passed) continue;
    const std::string& name = nodes[i].model.name;
    Contest contest(nodes[i], *engines[i], options);
    if (!contest.is_fair()) {
      log(LogLevel::kDebug, "node '" + name + "' was not tried on other inputs");
      continue;
    }
    const std::string what = try_node(contest, options, began);
    const std::string where = contest.where();
    if (what.empty() && !contest.baked().empty()) {
      warnings.push_back({.code = Code::kBakedIn,
                          .level = LogLevel::kWarning,
                          .where = where,
                          .node = name,
                          .text = "node '" + name + "': " + contest.baked() +
                                  ". It depends on a value that is constant in the trace. Use "
                                  "torch.where() for choices, and keep numbers in tensors"});
    }
    if (what.empty()) continue;
    const std::string text =
        (where.empty() ? "" : where + ": ") + "node '" + name + "': " + what +
        ". The exported model is right only near the trace. Use other operators in this line, or "
        "try another export_with, and please report it";
    log(LogLevel::kError, Code::kCounterExample, text);
    outcomes[i].passed = false;
    outcomes[i].difference = "'" + contest.port() + "' differs on inputs that were never traced";
  }
  return warnings;
}

}  // namespace leapp::rehearse
