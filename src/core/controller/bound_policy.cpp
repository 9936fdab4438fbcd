#include "controller/bound_policy.h"

#include <cmath>
#include <cstring>

#include "base/check.h"
#include "controller/saturating.h"
#include "leapp/error.h"

namespace leapp {

using std::chrono::nanoseconds;

namespace {

nanoseconds steady_now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

}  // namespace

ControllerOptions checked(const Robot& robot, ControllerOptions options) {
  check(robot);
  const auto require_positive = [](nanoseconds time, const char* what) {
    require(time.count() >= 0, Code::kControllerOptions,
            std::string(what) + " must not be negative");
  };
  require_positive(options.blend_in, "blend_in");
  require_positive(options.worker_poll, "worker_poll");
  if (options.deadline) require_positive(*options.deadline, "the deadline");
  require(!options.frequency || (*options.frequency > 0 && std::isfinite(*options.frequency)),
          Code::kControllerOptions, "the frequency of the policy must be positive and finite");
  if (!options.clock) options.clock = steady_now;
  return options;
}

BoundPolicy::BoundPolicy(const std::filesystem::path& bundle, const Robot& robot,
                         const ControllerOptions& options)
    : clock_(options.clock),
      deadline_(options.deadline),
      worker_(options.execution == Execution::kWorker),
      manager_(bundle, options.runtime),
      binding_(bind_all(robot)),
      runner_(manager_, options.execution, options.worker_poll) {
  manager_.prepare();
  find_ports();
}

RobotBinding BoundPolicy::bind_all(const Robot& robot) const {
  require(manager_.device() == "cpu", Code::kControllerOptions,
          "a controller needs its values on the CPU; set the provider of every node to cpu");
  RobotBinding binding = bind(manager_.bundle(), robot);
  require_bound(binding, manager_.bundle(), robot);
  return binding;
}

/// Finds the memory of the ports. A worker reads the manager's inputs while the next ones are
/// gathered, so those have separate memory.
void BoundPolicy::find_ports() {
  for (const PortBinding& port : binding_.inputs) {
    input_ports_.push_back(manager_.input_port(port.port));
    const TensorView& view = manager_.input(input_ports_.back());
    gathered_.emplace_back(worker_ ? view.byte_size() : 0);
    input_memory_.push_back(worker_ ? gathered_.back().data() : view.data);
  }
  for (const PortBinding& port : binding_.outputs) {
    output_ports_.push_back(manager_.output_port(port.port));
  }
  output_memory_.resize(output_ports_.size());
}

void BoundPolicy::start() {
  finish();
  manager_.reset();
  for (const InputPort port : input_ports_) {
    manager_.touch(port).value();  // written in place
  }
  restart();
}

void BoundPolicy::restart() noexcept {
  if (runner_.phase() == PolicyRunner::Phase::kDone) (void)runner_.take();
  result_ = {};
  // Cannot fail: no other thread uses the manager, and the worker is idle.
  [[maybe_unused]] const Result<void> reset = manager_.reset_state();
}

StepOutcome BoundPolicy::tick(const TickPlan& plan, TickState& state, SignalMemory& signals,
                              nanoseconds now, Recorder* recorder, std::size_t index) noexcept {
  const std::uint64_t tick = state.tick;
  PolicyResult result = poll_worker();
  std::uint64_t requested = state.requested;
  const bool busy = result.kind == PolicyResult::Kind::kBusy;
  const bool asked = gather(plan, state, signals.sensors, now, busy, input_memory_);
  signals.end_tick();
  if (asked && !worker_) {
    result = run_policy(now);
    requested = tick;
  }
  const StepOutcome outcome = step(plan, state, signals.sensors, result, signals.actuators);
  const bool good = result.kind == PolicyResult::Kind::kGood && !outcome.discard;
  result_ = good ? result.outputs : std::span<const void* const>();
  if (outcome.discard) {
    // Cannot fail: no other thread uses the manager, and the worker is idle.
    [[maybe_unused]] const Result<void> undone = manager_.undo_tick();
  } else if (recorder != nullptr && good) {
    record_ports(*recorder, index, requested, now);
  }
  if (outcome.request) request_worker();
  return outcome;
}

/// Reads the worker's phase, once per tick.
PolicyResult BoundPolicy::poll_worker() noexcept {
  const PolicyRunner::Phase phase = runner_.phase();
  if (phase == PolicyRunner::Phase::kDone) return take_result();
  PolicyResult result;
  if (phase == PolicyRunner::Phase::kRequested) result.kind = PolicyResult::Kind::kBusy;
  return result;
}

PolicyResult BoundPolicy::run_policy(nanoseconds began) noexcept {
  runner_.request();
  PolicyResult result = take_result();
  result.late = deadline_ && steps_forward(began, clock_()) > *deadline_;
  return result;
}

PolicyResult BoundPolicy::take_result() noexcept {
  PolicyResult result;
  if (const Result<void> done = runner_.take(); !done) {
    failure_ = done.failure();
    result.kind = failure_->code() == Code::kNotFinite ? PolicyResult::Kind::kNotFinite
                                                       : PolicyResult::Kind::kFailed;
    return result;
  }
  for (std::size_t i = 0; i < output_ports_.size(); ++i) {
    output_memory_[i] = manager_.output(output_ports_[i]).data;
  }
  result.kind = PolicyResult::Kind::kGood;
  result.outputs = output_memory_;
  return result;
}

void BoundPolicy::request_worker() noexcept {
  for (std::size_t i = 0; i < input_ports_.size(); ++i) {
    std::memcpy(manager_.input(input_ports_[i]).data, gathered_[i].data(), gathered_[i].size());
  }
  runner_.request();
}

void BoundPolicy::record_ports(Recorder& recorder, std::size_t index, std::uint64_t requested,
                               nanoseconds now) noexcept {
  for (std::size_t i = 0; i < input_ports_.size(); ++i) {
    recorder.input(index, i, requested, now, manager_.input(input_ports_[i]));
  }
  for (std::size_t i = 0; i < output_ports_.size(); ++i) {
    recorder.output(index, i, requested, now, manager_.output(output_ports_[i]));
  }
}

}  // namespace leapp
