#include "compile/counter_examples.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "base/log.h"
#include "compile/unseen_inputs.h"
#include "interop/convert.h"
#include "session/hooks.h"
#include "trace/inside.h"
#include "trace/replayer.h"
#include "trace/source.h"

namespace leapp::compile {
namespace {

using Clock = std::chrono::steady_clock;
using TensorList = std::vector<at::Tensor>;

// The node as it was traced and as it was exported, side by side.
class Contest {
 public:
  Contest(const Draft& draft, const CompiledNode& compiled, Engine& engine, Tolerance tolerance)
      : draft_(draft),
        compiled_(compiled),
        engine_(engine),
        tolerance_(tolerance),
        slots_(state::slots_of(draft.states.states)),
        recording_(state::recording_of(draft.states)) {}

  /// Whether the two can be compared at all.
  bool is_fair();
  /// Tries inputs of that kind. Returns what differs, in words, or "".
  std::string run(Unseen kind, at::Generator& random);
  const std::string& port() const { return port_; }
  /// What the node's own function differs in, in words, or "".
  const std::string& baked() const { return baked_; }
  std::string where() const;

 private:
  struct Inputs {
    TensorList ports;   // of the recording
    TensorList states;  // of the slots
  };

  Inputs make_inputs(Unseen kind, at::Generator& random) const;
  template <typename Change>
  static Inputs changed(const Inputs& inputs, const Change& change);
  std::string try_inputs(Unseen kind, const Inputs& inputs, at::Generator& random);
  TensorList trace(const Inputs& inputs) const;
  TensorList exported(const Inputs& inputs) const;
  TensorList values_of(std::size_t slot) const;
  void call_function(Unseen kind, const Inputs& inputs, const TensorList& model,
                     at::Generator& random);
  std::string differs(Unseen kind, const Inputs& inputs, std::size_t output,
                      const at::Tensor& right, const at::Tensor& model,
                      at::Generator& random) const;
  Tolerance tolerance_of(std::size_t output) const;

  const Draft& draft_;
  const CompiledNode& compiled_;
  Engine& engine_;
  Tolerance tolerance_;
  std::vector<trace::StateSlot> slots_;
  trace::Recording recording_;
  // For each input of the model its place among the ports, or behind them among the slots; for
  // each output likewise, or nothing where it is a constant.
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

// Whether a factorisation says in a number whether it worked, and nothing looks at that: where it
// did not, its results are anything.
bool leaves_failure_to_the_caller(const trace::Tape& tape, const std::vector<std::int32_t>& calls) {
  bool tells = false, checked = false;
  for (const std::int32_t index : calls) {
    const std::string& name = tape.calls()[static_cast<std::size_t>(index)].op.operator_name().name;
    tells |= name.starts_with("aten::linalg_") && name.ends_with("_ex");
    checked |= name == "aten::_linalg_check_errors";
  }
  return tells && !checked;
}

bool Contest::is_fair() {
  if (compiled_.random || !draft_.states.opening.empty()) return false;
  for (const std::string& name : compiled_.input_names) {
    const auto place = place_of(name, recording_.inputs, slots_);
    if (!place) return false;
    input_places_.push_back(*place);
  }
  for (const std::string& name : compiled_.output_names) {
    output_places_.push_back(place_of(name, recording_.outputs, slots_));
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (values_of(i).empty()) return false;
  }
  const trace::Tape& tape = *recording_.tape;
  if (leaves_failure_to_the_caller(tape, recording_.calls)) return false;
  return std::all_of(recording_.calls.begin(), recording_.calls.end(), [&](std::int32_t index) {
    const trace::Call& call = tape.calls()[static_cast<std::size_t>(index)];
    bool fixed = !trace::is_users(call.op);
    trace::for_each_result(tape, call, [&](trace::VarId var) {
      fixed &= var == trace::kNobody || tape.variable(var).varying == 0;
    });
    return fixed;
  });
}

// What a slot held before the passes, as far as that is known.
TensorList Contest::values_of(std::size_t slot) const {
  TensorList values;
  for (const State::Values& each : draft_.states.states[slot].per_pass) {
    if (each.before.defined()) values.push_back(each.before);
  }
  return values;
}

Contest::Inputs Contest::make_inputs(Unseen kind, at::Generator& random) const {
  Inputs inputs;
  for (std::size_t i = 0; i < recording_.inputs.size(); ++i) {
    TensorList traced;
    for (std::size_t pass = 0; pass < draft_.node->passes.size(); ++pass) {
      traced.push_back(compiled_.input_value(pass, recording_.inputs[i].name));
    }
    inputs.ports.push_back(make_unseen(kind, traced, random));
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    inputs.states.push_back(make_unseen(kind, values_of(i), random));
  }
  return inputs;
}

template <typename Change>
Contest::Inputs Contest::changed(const Inputs& inputs, const Change& change) {
  Inputs result;
  for (const at::Tensor& each : inputs.ports) result.ports.push_back(change(each));
  for (const at::Tensor& each : inputs.states) result.states.push_back(change(each));
  return result;
}

// What the recorded operators compute: ports, then slots. Throws where they refuse the inputs.
TensorList Contest::trace(const Inputs& inputs) const {
  trace::Replay::Values values = trace::Replay(recording_, slots_).run(inputs.ports, inputs.states);
  TensorList all = std::move(values.outputs);
  all.insert(all.end(), values.after.begin(), values.after.end());
  for (at::Tensor& each : all) {
    if (each.defined()) each = each.to(at::kCPU).contiguous();
  }
  return all;
}

TensorList Contest::exported(const Inputs& inputs) const {
  TensorList given;
  std::vector<ConstTensorView> read;
  for (const std::size_t place : input_places_) {
    const at::Tensor& value = place < inputs.ports.size()
                                  ? inputs.ports[place]
                                  : inputs.states[place - inputs.ports.size()];
    given.push_back(value.to(at::kCPU).contiguous());
    read.push_back(interop::view_of(given.back()));
  }
  TensorList outputs;
  std::vector<TensorView> written;
  for (const Port& port : compiled_.model.outputs) {
    outputs.push_back(at::empty(port.shape, interop::to_scalar_type(port.dtype)));
    written.push_back({outputs.back().data_ptr(), port.dtype, port.shape});
  }
  engine_.bind(read, written)->run().value();
  return outputs;
}

// Kernels that make indices or counts out of the greatest numbers there are may do as they like.
// What is wrong there must be wrong for numbers that are merely large, too.
std::string Contest::run(Unseen kind, at::Generator& random) {
  const Inputs inputs = make_inputs(kind, random);
  const std::string what = try_inputs(kind, inputs, random);
  if (what.empty() || kind != Unseen::kExtreme) return what;
  return try_inputs(kind, changed(inputs, merely_large), random);
}

std::string Contest::try_inputs(Unseen kind, const Inputs& inputs, at::Generator& random) {
  TensorList traced;
  try {
    traced = trace(inputs);
  } catch (const std::exception&) {
    return {};  // the program refuses such inputs as well
  }
  const TensorList model = exported(inputs);
  for (std::size_t i = 0; i < model.size(); ++i) {
    const auto place = output_places_[i];
    if (!place || !traced[*place].defined()) continue;
    const at::Tensor& value = traced[*place];
    if (value.sizes() != model[i].sizes() || value.scalar_type() != model[i].scalar_type())
      continue;
    const std::string what = differs(kind, inputs, i, value, model[i], random);
    if (what.empty()) continue;
    port_ = compiled_.output_names[i];
    return "on inputs that were never traced (" + std::string(name_of(kind)) + ") the model's '" +
           port_ + "' is not what the traced operators compute: " + what;
  }
  call_function(kind, inputs, model, random);
  return {};
}

Tolerance Contest::tolerance_of(std::size_t output) const {
  if (output >= compiled_.output_precisions.size()) return tolerance_;
  return tolerance_for(compiled_.output_precisions[output], tolerance_);
}

// What the program keeps, it keeps for itself: only functions without state can be asked.
void Contest::call_function(Unseen kind, const Inputs& inputs, const TensorList& model,
                            at::Generator& random) {
  if (!baked_.empty() || !slots_.empty() || !session::hooks().call_again) return;
  std::map<std::string, at::Tensor> given;
  for (std::size_t i = 0; i < inputs.ports.size(); ++i) {
    given.emplace(recording_.inputs[i].name, inputs.ports[i].clone());
  }
  const auto outputs = session::hooks().call_again(draft_.node->name, given);
  for (std::size_t i = 0; i < model.size(); ++i) {
    const auto found = outputs.find(compiled_.output_names[i]);
    if (!output_places_[i] || found == outputs.end()) continue;
    const at::Tensor value = found->second.detach().to(at::kCPU).contiguous();
    if (value.sizes() != model[i].sizes() || value.scalar_type() != model[i].scalar_type())
      continue;
    const std::string what = differs(kind, inputs, i, value, model[i], random);
    if (what.empty()) continue;
    port_ = compiled_.output_names[i];
    baked_ = "on inputs that were never traced (" + std::string(name_of(kind)) +
             ") the function puts out another '" + port_ + "' than its model: " + what;
    return;
  }
}

// Whether a difference is more than rounding: the traced operators on inputs that are hardly others
// say how far results are apart then. An answer that jumps there, as argmax does between equals,
// has no other right one.
std::string Contest::differs(Unseen kind, const Inputs& inputs, std::size_t output,
                             const at::Tensor& right, const at::Tensor& model,
                             at::Generator& random) const {
  const Tolerance tolerance = tolerance_of(output);
  if (compare(interop::view_of(right), interop::view_of(model), tolerance).passed()) return {};
  const at::Tensor source = right.to(at::kDouble);
  const at::Tensor found = model.to(at::kDouble);
  const std::size_t place = *output_places_[output];
  const at::Tensor exact = trace(inputs)[place].to(at::kDouble);
  at::Tensor spread = at::zeros({}, at::kDouble);
  at::Tensor steady = source.isfinite();
  for (int i = 0; i < 3; ++i) {
    at::Tensor near;
    try {
      const auto nudge = [&](const at::Tensor& each) { return nudged(each, random); };
      near = trace(changed(inputs, nudge))[place].to(at::kDouble);
    } catch (const std::exception&) {
      return {};
    }
    steady = steady.logical_and(near.isfinite());
    const at::Tensor apart = near.sub(exact).abs();
    spread = at::maximum(spread, apart.masked_select(apart.isfinite()).sum());
  }
  if (kind == Unseen::kExtreme) steady = steady.logical_and(found.isfinite());
  const at::Tensor limit = source.abs().mul(tolerance.rtol).add(tolerance.atol).add(spread.mul(10));
  const at::Tensor error = found.sub(source).abs();
  const at::Tensor wrong = steady.logical_and(error.le(limit).logical_not());
  if (!wrong.any().item<bool>()) return {};
  const auto largest = error.masked_select(wrong).max().item<double>();
  std::ostringstream text;
  if (std::isnan(largest)) {
    text << "it is not a number";
  } else {
    text << "error " << largest;
  }
  text << " (" << to_string(tolerance) << ")";
  return text.str();
}

// The line that computed the output which differs.
std::string Contest::where() const {
  for (const trace::Recording::Port& output : recording_.outputs) {
    if (output.name != port_ || output.var == trace::kNobody) continue;
    const std::int32_t call = recording_.tape->variable(output.var).call;
    if (call < 0) break;
    const ir::SourceLocation line =
        trace::resolve_source(recording_.tape->calls()[static_cast<std::size_t>(call)].frame);
    return line.known() ? line.to_string() : "";
  }
  return {};
}

// Runs no trial that is expected to end after the time is up.
class Budget {
 public:
  explicit Budget(std::optional<Clock::time_point> until) : until_(until) {}
  bool allows_another() const { return !until_ || Clock::now() + longest_ <= *until_; }
  template <typename Trial>
  auto spend(const Trial& trial) {
    const Clock::time_point start = Clock::now();
    auto result = trial();
    longest_ = std::max(longest_, Clock::now() - start);
    return result;
  }

 private:
  std::optional<Clock::time_point> until_;
  Clock::duration longest_{};
};

std::string try_node(Contest& contest, const CounterExampleOptions& options, Budget& budget) {
  at::Generator random = at::detail::createCPUGenerator(1);
  for (int round = 0; round < options.rounds; ++round) {
    for (const Unseen kind : kUnseenKinds) {
      if (!budget.allows_another()) return {};
      const std::string what = budget.spend([&] { return contest.run(kind, random); });
      if (!what.empty()) return what;
    }
  }
  return {};
}

}  // namespace

CounterExampleOptions trials_for(const Tolerance& tolerance, bool thorough,
                                 Clock::time_point began) {
  if (thorough) return {.tolerance = tolerance, .rounds = 20};
  const Clock::time_point now = Clock::now();
  const Clock::duration fifth = (now - began) / 5;
  return {.tolerance = tolerance,
          .until = now + std::max<Clock::duration>(fifth, std::chrono::milliseconds(50))};
}

std::vector<Diagnostic> try_unseen_inputs(const std::vector<Draft>& drafts,
                                          const std::vector<CompiledNode>& nodes,
                                          const std::vector<std::unique_ptr<Engine>>& engines,
                                          const CounterExampleOptions& options,
                                          std::vector<NodeOutcome>& outcomes) {
  std::vector<Diagnostic> warnings;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!drafts[i].has_graph() || !engines[i] || !outcomes[i].passed) continue;
    Budget budget(options.until);  // an expensive node is no reason to try no other
    std::string what;
    Contest contest(drafts[i], nodes[i], *engines[i], options.tolerance);
    try {
      if (!contest.is_fair()) {
        log(LogLevel::kDebug, "node '" + nodes[i].model.name + "' was tried on no other inputs");
        continue;
      }
      what = try_node(contest, options, budget);
    } catch (const std::exception& error) {
      what =
          std::string("on inputs that were never traced the model does not run: ") + error.what();
    }
    const std::string where = contest.where();
    if (what.empty() && !contest.baked().empty()) {
      warnings.push_back({.code = Code::kBakedIn,
                          .level = LogLevel::kWarning,
                          .where = where,
                          .node = nodes[i].model.name,
                          .text = "node '" + nodes[i].model.name + "': " + contest.baked() +
                                  ". It chooses or computes by something that the trace took for "
                                  "constant: choose with torch.where(), and let numbers stay "
                                  "tensors"});
    }
    if (what.empty()) continue;
    const std::string text = (where.empty() ? "" : where + ": ") + "node '" + nodes[i].model.name +
                             "': " + what +
                             ". The conversion is right near the trace alone: write the line with "
                             "other operators, or try another export_with, and please report it";
    log(LogLevel::kError, Code::kCounterExample, text);
    outcomes[i].passed = false;
    outcomes[i].difference = "'" + contest.port() + "' differs on inputs that were never traced";
  }
  return warnings;
}

}  // namespace leapp::compile
