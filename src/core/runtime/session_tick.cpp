// The part of a session that runs in every tick, and its measurements.
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "runtime/finite.h"
#include "runtime/session.h"

namespace leapp {
namespace {

constexpr const char* kTwoThreads =
    "two threads use this InferenceManager at the same time. Create one manager for each thread";

}  // namespace

Failure Session::two_threads() noexcept {
  return Failure(Code::kTwoThreads, kTwoThreads);
}

void Session::Use::required() const {
  if (!held_) throw two_threads().to_error();
}

Result<void> Session::tick() noexcept {
  if (!observed_) return run_tick();
  const Clock::time_point start = Clock::now();
  Result<void> done = run_tick();
  const Clock::time_point end = Clock::now();
  const bool missed = done && finish(start, end);
  if (timeline_) {
    timeline_->tick_ended(start, end,
                          !done    ? Timeline::Outcome::kFailed
                          : missed ? Timeline::Outcome::kMissed
                                   : Timeline::Outcome::kDone);
  }
  return done;
}

Result<void> Session::run_tick() noexcept {
  if (Result<void> checked = check_before(); !checked) return checked;
  if (Result<void> drawn = draw_noise(); !drawn) return drawn;
  Result<void> done = compute();
  if (done) done = commit();
  if (!done) [[unlikely]] {
    can_undo_ = false;  // it has overwritten what the last good tick read
    if (schedule_runner_) {
      [[maybe_unused]] const Result<void> restored = schedule_runner_->roll_back();
    }
  }
  return done;
}

// Draws the numbers of this tick. With a schedule, the runner draws before each run of a node.
Result<void> Session::draw_noise() noexcept {
  for (std::size_t i = 0; i < plan_.noise.size(); ++i) {
    noise_.set_supplied(i, inputs_[plan_.noise[i].input].supplied);
  }
  if (schedule_runner_ || plan_.noise.empty()) return {};
  for (std::size_t step = 0; step < plan_.steps.size(); ++step) {
    if (Result<void> drawn = noise_.fill(step, position_); !drawn) return drawn;
  }
  return {};
}

Result<void> Session::compute() noexcept {
  if (options_.measure || timeline_) {
    if (Result<void> ran = run_measured(); !ran) return ran;
  } else if (recordings_[parity_]) {
    if (Result<void> ran = recordings_[parity_]->replay(); !ran) return ran;
  } else {
    if (Result<void> ran = run_nodes(); !ran) return ran;
  }
  if (memory_) {
    if (Result<void> done = memory_->synchronize(); !done) return done;
  }
  return check_after();
}

Result<void> Session::check_before() const noexcept {
  if (!cannot_run_.empty()) return Failure(Code::kNoModel, cannot_run_);
  const std::size_t required = inputs_.size() - plan_.noise.size();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const ExternalInput& input = inputs_[i];
    if (!input.supplied) [[unlikely]] {
      if (i >= required) continue;  // a noise port
      return Failure(Code::kMissingInput,
                     {"input ", plan_.external_inputs[i], " is missing", takes_});
    }
    if (input.ages && Clock::now() - input.fresh > input.limit) [[unlikely]] {
      return Failure(Code::kStaleInput,
                     {"input ", plan_.external_inputs[i], " is stale: it is older than its limit"});
    }
    if (options_.finite.inputs) {
      if (Result<void> finite = check_finite(input.value, 0, plan_.external_inputs[i]); !finite) {
        return finite;
      }
    }
  }
  return {};
}

Result<void> Session::check_after() const noexcept {
  const std::size_t written = 1 - parity_;
  if (options_.finite.state && schedule_runner_) {
    if (Result<void> finite = check_held_finite(*schedule_runner_); !finite) return finite;
  } else if (options_.finite.state) {
    for (std::size_t i = 0; i < next_state_.size(); ++i) {
      if (Result<void> finite = check_finite(next_state_[i], written, plan_.feedback_inputs[i]);
          !finite) {
        return finite;
      }
    }
  }
  if (options_.finite.outputs) {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (Result<void> finite =
              check_finite(outputs_[i].access.value, written, plan_.external_outputs[i]);
          !finite) {
        return finite;
      }
    }
  }
  return {};
}

// Checks the values that a tick of a schedule computed for later ticks.
Result<void> Session::check_held_finite(const ScheduleRunner& schedule) const noexcept {
  for (const HeldFeedback& wire : plan_.held_feedback) {
    if (!schedule.ran_in_last_tick(wire.step)) continue;
    if (Result<void> finite = check_finite(wire.from, 0, plan_.values[wire.to].name); !finite) {
      return finite;
    }
  }
  for (const HeldOutput& held : plan_.held_outputs) {
    if (held.readers.empty() || !schedule.ran_in_last_tick(held.step)) continue;
    if (Result<void> finite = check_finite(held.value, 0, plan_.values[held.value].name); !finite) {
      return finite;
    }
  }
  return {};
}

Result<void> Session::check_finite(std::size_t value, std::size_t half,
                                   const std::string& name) const noexcept {
  const TensorView& view = buffers_.view(value, half);
  const void* data = view.data;
  if (memory_) {
    if (Result<void> fetched = fetch(view, scratch_.data()); !fetched) return fetched;
    data = scratch_.data();
  }
  if (all_finite(view.dtype, data, buffers_.byte_size(value))) [[likely]] {
    return {};
  }
  return Failure(
      Code::kNotFinite,
      {name, " contains NaN or infinity. The state keeps its value from before this tick"});
}

Result<void> Session::run_nodes() noexcept {
  if (schedule_runner_) return run_scheduled(*schedule_runner_);
  for (Binding* binding : schedule_[parity_]) {
    if (Result<void> ran = binding->run(); !ran) [[unlikely]] {
      return ran;
    }
  }
  return {};
}

Result<void> Session::run_scheduled(ScheduleRunner& schedule) noexcept {
  schedule.begin_tick();
  for (std::size_t step = 0; step < schedule_[0].size(); ++step) {
    if (Result<bool> ran = run_step(step); !ran) [[unlikely]] {
      return ran.failure();
    }
  }
  return {};
}

// Returns whether the step had to run.
Result<bool> Session::run_step(std::size_t step) noexcept {
  Binding& binding = *schedule_[parity_][step];
  if (!schedule_runner_) {
    if (Result<void> ran = binding.run(); !ran) return ran.failure();
    return true;
  }
  Result<bool> due = schedule_runner_->is_due(step);
  if (!due || !*due) return due;
  if (Result<void> ran = schedule_runner_->run(step, binding); !ran) return ran.failure();
  return true;
}

Result<void> Session::warm_up() noexcept {
  if (!schedule_runner_) {
    Result<void> ran = run_nodes();
    parity_ = 1 - parity_;
    return ran;
  }
  for (std::size_t step = 0; step < schedule_[0].size(); ++step) {
    if (Result<void> ran = schedule_runner_->warm_up(step, *schedule_[0][step]); !ran) return ran;
  }
  return {};
}

Result<void> Session::run_measured() noexcept {
  const std::size_t steps = schedule_[parity_].size();
  if (schedule_runner_) schedule_runner_->begin_tick();
  Clock::time_point last = Clock::now();
  if (timeline_) timeline_->steps_begin(last);
  for (std::size_t step = 0; step < steps; ++step) {
    const Result<bool> ran = run_step(step);
    if (!ran) [[unlikely]] {
      return ran.failure();
    }
    if (!*ran) {
      if (timeline_) timeline_->step_skipped();
      continue;
    }
    if (memory_) {  // the time of a step includes its work on the device
      if (Result<void> done = memory_->synchronize(); !done) return done;
    }
    const Clock::time_point now = Clock::now();
    if (options_.measure) step_latency_[step].record(now - last);
    if (timeline_) timeline_->step_ended(now);
    last = now;
  }
  return {};
}

// The state changes last: a copy that a device refuses leaves it.
Result<void> Session::commit() noexcept {
  const std::size_t written = 1 - parity_;
  bool copied = false;
  const auto copy = [&](void* to, const void* from, std::size_t bytes) -> Result<void> {
    if (bytes == 0) return {};
    copied = true;
    if (memory_) return memory_->copy(to, from, bytes, DeviceMemory::Copy::kWithin);
    std::memcpy(to, from, bytes);
    return {};
  };
  for (const FeedbackCopy& state : plan_.copies) {
    if (Result<void> done =
            copy(buffers_.view(state.to, written).data, buffers_.view(state.from, written).data,
                 buffers_.byte_size(state.to));
        !done) {
      return done;
    }
  }
  for (const ExternalOutput& output : outputs_) {
    if (output.copy_to == nullptr) continue;
    if (Result<void> done = copy(output.copy_to, buffers_.view(output.access.value, written).data,
                                 buffers_.byte_size(output.access.value));
        !done) {
      return done;
    }
  }
  if (memory_ && copied) {
    if (Result<void> done = memory_->synchronize(); !done) return done;
  }
  if (schedule_runner_) {
    if (Result<void> ended = schedule_runner_->end_tick(); !ended) return ended;
  }
  ++ticks_;
  ++position_;
  inputs_changed_ = false;
  can_undo_ = true;
  parity_ = written;
  return {};
}

// The other buffer of each pair still contains the value that the tick read.
Result<void> Session::undo_tick() noexcept {
  if (!can_undo_) return {};
  can_undo_ = false;
  --position_;
  parity_ = 1 - parity_;
  return schedule_runner_ ? schedule_runner_->undo_tick() : Result<void>();
}

bool Session::is_state_finite() const noexcept {
  if (schedule_runner_ && !check_held_finite(*schedule_runner_)) return false;
  for (std::size_t i = 0; i < state_.size(); ++i) {
    if (!check_finite(state_[i], parity_, plan_.feedback_inputs[i])) return false;
  }
  return true;
}

// Updates the statistics of a successful tick; returns whether it took too long.
bool Session::finish(Clock::time_point start, Clock::time_point end) noexcept {
  const std::chrono::nanoseconds took = end - start;
  if (tick_latency_) tick_latency_->record(took);
  const bool missed = options_.deadline && took > *options_.deadline;
  if (missed) {
    ++deadline_misses_;
    if (options_.on_deadline_miss) {
      options_.on_deadline_miss(
          {.tick = observed_ticks_, .took = took, .deadline = *options_.deadline});
    }
  }
  ++observed_ticks_;
  return missed;
}

Statistics Session::statistics() const {
  Statistics statistics;
  statistics.deadline_misses = deadline_misses_;
  if (tick_latency_) statistics.tick = tick_latency_->summary();
  for (std::size_t i = 0; i < step_latency_.size(); ++i) {
    statistics.nodes.emplace_back(plan_.steps[i].model.name, step_latency_[i].summary());
  }
  return statistics;
}

void Session::trace_to(const std::filesystem::path& file, const std::string& title) {
  const std::unique_ptr<Timeline> former = std::move(timeline_);
  observed_ = options_.measure || options_.deadline.has_value();
  if (former) former->finish().value();
  if (!file.empty()) {
    std::vector<std::string> steps;
    for (const PlannedStep& step : plan_.steps) steps.push_back(step.model.name);
    timeline_ = std::make_unique<Timeline>(file, title, steps);
  }
  observed_ = options_.measure || options_.deadline.has_value() || timeline_;
}

void Session::reset_statistics() {
  deadline_misses_ = 0;
  if (tick_latency_) tick_latency_.emplace();
  std::fill(step_latency_.begin(), step_latency_.end(), Histogram());
}

}  // namespace leapp
