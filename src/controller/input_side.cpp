#include "controller/input_side.h"

#include <algorithm>

#include "controller/element_io.h"
#include "controller/schedule.h"

namespace leapp {
namespace {

/// Commands stay within the ranges that the bundle states.
void narrow_to_ranges(Limiter& limiter, const PortBinding& port, const GraphContract& contract) {
  if (!port.kind.starts_with("command/")) return;
  for (const CommandRange& range : contract.command_ranges) {
    for (std::size_t i = 0; i < port.elements.size(); ++i) {
      if (port.elements[i] == range.element) limiter.narrow(i, range.lower, range.upper);
    }
  }
}

}  // namespace

InputSide::InputSide(InferenceManager& manager, const RobotBinding& binding,
                     const std::vector<SignalValues>& sensors, double rate, std::size_t decimation)
    : manager_(manager) {
  const GraphContract contract = contract_of(manager.bundle().pipeline);
  for (const PortBinding& port : binding.inputs) {
    Input input;
    input.name = port.port;
    input.port = manager.input_port(port.port);
    input.view = manager.input(input.port);
    input.layout = port.layout;
    for (const BoundElement& element : port.sources) {
      const SignalValues& signal = sensors[element.signal];
      input.sources.push_back({&signal.values[element.element], element.factor});
      if (std::find(input.signals.begin(), input.signals.end(), &signal) == input.signals.end()) {
        input.signals.push_back(&signal);
      }
    }
    if (port.contract.max_age_ms) {
      input.max_age = std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::chrono::duration<double, std::milli>(*port.contract.max_age_ms));
    }
    std::size_t every = decimation;
    if (port.layout.steps > 1) {
      const std::string what = "the time axis of " + port.port;
      const Sampling sampling =
          find_sampling(ticks_in(port.layout.period_ms / 1000, rate, what), decimation, what);
      input.every = every = sampling.every;
      input.history = HistoryRing(port.contract.history.value_or(History{}), port.layout.steps,
                                  port.layout.elements, sampling.stride);
    }
    input.values.resize(port.layout.elements);
    input.limiter =
        Limiter(port.contract.limits, port.layout.elements, static_cast<double>(every) / rate);
    narrow_to_ranges(input.limiter, port, contract);
    inputs_.push_back(std::move(input));
  }
}

void InputSide::start() {
  stop_ = false;
  for (Input& input : inputs_) {
    input.limiter.forget();
    input.history.clear();
    input.good = true;
    manager_.touch(input.port);
  }
}

InputSide::Outcome InputSide::read(Input& input, std::uint64_t tick,
                                   InterventionLog& log) noexcept {
  for (std::size_t i = 0; i < input.sources.size(); ++i) {
    input.values[i] = *input.sources[i].value * input.sources[i].factor;
  }
  if (!are_finite(input.values)) [[unlikely]] {
    log.add(tick, Cause::kNotFinite, input.name);
    return Outcome::kBad;
  }
  if (!input.limiter.active()) return Outcome::kGood;
  const Limiter::Outcome outcome = input.limiter.apply(input.values);
  if (outcome.stop) [[unlikely]] {
    log.add(tick, Cause::kBeyondLimits, input.name);
    return Outcome::kStop;
  }
  if (outcome.clamped) log.add(tick, Cause::kClamped, input.name);
  if (outcome.slewed) log.add(tick, Cause::kSlewed, input.name);
  return Outcome::kGood;
}

void InputSide::sample(std::uint64_t tick, InterventionLog& log) noexcept {
  for (Input& input : inputs_) {
    if (input.every == 0 || tick % input.every != 0) continue;
    const bool measured = std::all_of(
        input.signals.begin(), input.signals.end(),
        [](const SignalValues* signal) { return signal->measured != SignalValues::kNever; });
    if (!measured) continue;  // the policy does not run either: find out in is_stale()
    const Outcome outcome = read(input, tick, log);
    stop_ = stop_ || outcome == Outcome::kStop;
    input.good = outcome == Outcome::kGood;
    if (input.good) input.history.push(input.values);
  }
}

bool InputSide::is_stale(std::uint64_t tick, std::chrono::nanoseconds now,
                         InterventionLog& log) noexcept {
  bool stale = false;
  for (const Input& input : inputs_) {
    for (const SignalValues* const signal : input.signals) {
      if (signal->measured != SignalValues::kNever && now - signal->measured <= input.max_age) {
        continue;
      }
      log.add(tick, Cause::kStale, input.name);
      stale = true;
      break;
    }
  }
  return stale;
}

InputSide::Outcome InputSide::fill(std::uint64_t tick, InterventionLog& log) noexcept {
  Outcome worst = stop_ ? Outcome::kStop : Outcome::kGood;
  for (Input& input : inputs_) {
    Outcome outcome = Outcome::kGood;
    if (input.every == 0) {
      outcome = read(input, tick, log);
      if (outcome != Outcome::kBad) {
        store_step(input.view.data, input.view.dtype, input.layout, 0, input.values);
      }
    } else if (!input.good || input.history.empty()) {
      outcome = Outcome::kBad;
    } else {
      for (std::size_t step = 0; step < input.layout.steps; ++step) {
        store_step(input.view.data, input.view.dtype, input.layout, step, input.history.step(step));
      }
    }
    worst = std::max(worst, outcome);
  }
  return worst;
}

}  // namespace leapp
