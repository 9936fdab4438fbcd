#include "leapp/controller.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "base/check.h"
#include "base/utf8.h"
#include "controller/policy_runner.h"
#include "controller/recorder.h"
#include "controller/step.h"
#include "leapp/error.h"

namespace leapp {
namespace {

using std::chrono::nanoseconds;

nanoseconds steady_now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

std::size_t find_signal(const std::vector<Signal>& signals, std::string_view name,
                        const char* side) {
  std::string names;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    if (signals[i].name == name) return i;
    names += (names.empty() ? "" : ", ") + signals[i].name;
  }
  throw Error(Code::kNotBound, std::string("the robot has no ") + side + " " +
                                   quote_for_message(name) + "; it has: " + names);
}

/// Returns the robot. Throws Error unless it and the options make sense.
const Robot& checked(const Robot& robot, const ControllerOptions& options) {
  check(robot);
  const auto require_positive = [](nanoseconds time, const char* what) {
    require(time.count() >= 0, Code::kControllerOptions,
            std::string(what) + " must not be negative");
  };
  require_positive(options.blend_in, "blend_in");
  require_positive(options.worker_poll, "worker_poll");
  if (options.deadline) require_positive(*options.deadline, "the deadline");
  require(!options.frequency || (*options.frequency > 0 && std::isfinite(*options.frequency)),
          Code::kControllerOptions, "the frequency of the policy must be positive");
  return robot;
}

}  // namespace

/// The shell around step.h: clock, engine, worker and recording.
class Controller::Impl {
 public:
  Impl(const std::filesystem::path& path, const Robot& robot, ControllerOptions options)
      : robot_(checked(robot, options)),
        options_(std::move(options)),
        manager_(path, options_.runtime),
        binding_(bind_all()),
        plan_(make_tick_plan(manager_.bundle(), robot_, binding_, options_)),
        tick_(plan_),
        sensors_(make_sensors(plan_)),
        actuators_(make_actuators(plan_)),
        runner_(manager_, options_.execution, options_.worker_poll) {
    if (!options_.clock) options_.clock = steady_now;
    manager_.prepare();
    find_ports();
    if (!options_.recording.empty()) {
      recorder_.emplace(options_.recording, robot_, manager_.bundle(), binding_);
    }
  }

  void start() {
    runner_.finish();
    manager_.reset();
    for (const InputPort port : input_ports_) {
      manager_.touch(port).value();  // written in place
    }
    tick_.restart();
    active_ = true;
    if (recorder_) recorder_->started(options_.clock());
  }

  void stop() {
    runner_.finish();
    active_ = false;
  }

  ControllerState update() noexcept {
    if (!active_) return ControllerState::kInactive;
    const nanoseconds now = options_.clock();
    const std::uint64_t tick = tick_.tick;
    const std::uint64_t logged = tick_.log.total();
    PolicyResult result = poll_worker();
    std::uint64_t requested = tick_.requested;
    const bool busy = result.kind == PolicyResult::Kind::kBusy;
    const bool asked = gather(plan_, tick_, sensors_, now, busy, input_memory_);
    for (SensorValues& sensor : sensors_) sensor.fresh = false;
    if (asked && !plan_.worker) {
      result = run_policy(now);
      requested = tick;
    }
    const StepOutcome outcome = step(plan_, tick_, sensors_, result, actuators_);
    if (outcome.discard) {
      // Cannot fail: nobody else has the manager, and the worker is idle.
      [[maybe_unused]] const Result<void> undone = manager_.undo_tick();
    } else if (recorder_ && result.kind == PolicyResult::Kind::kGood) {
      record_ports(requested, now);
    }
    if (outcome.request) request_worker();
    if (recorder_) record(tick, now, logged);
    return outcome.state;
  }

  Robot robot_;
  ControllerOptions options_;
  InferenceManager manager_;
  RobotBinding binding_;
  TickPlan plan_;
  TickState tick_;
  std::vector<SensorValues> sensors_;
  std::vector<std::vector<double>> actuators_;
  std::optional<Failure> failure_;
  std::optional<Recorder> recorder_;

 private:
  RobotBinding bind_all() const {
    require(manager_.device() == "cpu", Code::kControllerOptions,
            "a controller needs its values on the CPU; let each node run with provider cpu");
    RobotBinding binding = bind(manager_.bundle(), robot_);
    require_bound(binding, manager_.bundle(), robot_);
    return binding;
  }

  /// Finds the memory of the ports. A worker reads the manager's inputs while the next ones are
  /// gathered, so those have memory of their own.
  void find_ports() {
    for (const PortBinding& port : binding_.inputs) {
      input_ports_.push_back(manager_.input_port(port.port));
      const TensorView& view = manager_.input(input_ports_.back());
      gathered_.emplace_back(plan_.worker ? view.byte_size() : 0);
      input_memory_.push_back(plan_.worker ? gathered_.back().data() : view.data);
    }
    for (const PortBinding& port : binding_.outputs) {
      output_ports_.push_back(manager_.output_port(port.port));
    }
    output_memory_.resize(output_ports_.size());
  }

  /// Looks at the worker, once a tick.
  PolicyResult poll_worker() noexcept {
    const PolicyRunner::Phase phase = runner_.phase();
    if (phase == PolicyRunner::Phase::kDone) return take_result();
    PolicyResult result;
    if (phase == PolicyRunner::Phase::kRequested) result.kind = PolicyResult::Kind::kBusy;
    return result;
  }

  PolicyResult run_policy(nanoseconds began) noexcept {
    runner_.request();
    PolicyResult result = take_result();
    result.late = options_.deadline && options_.clock() - began > *options_.deadline;
    return result;
  }

  PolicyResult take_result() noexcept {
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

  void request_worker() noexcept {
    for (std::size_t i = 0; i < input_ports_.size(); ++i) {
      std::memcpy(manager_.input(input_ports_[i]).data, gathered_[i].data(), gathered_[i].size());
    }
    runner_.request();
  }

  void record_ports(std::uint64_t requested, nanoseconds now) noexcept {
    for (std::size_t i = 0; i < input_ports_.size(); ++i) {
      recorder_->input(i, requested, now, manager_.input(input_ports_[i]));
    }
    for (std::size_t i = 0; i < output_ports_.size(); ++i) {
      recorder_->output(i, requested, now, manager_.output(output_ports_[i]));
    }
  }

  void record(std::uint64_t tick, nanoseconds now, std::uint64_t logged) noexcept {
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      recorder_->sensor(i, tick, now, sensors_[i].values);
    }
    for (std::size_t i = 0; i < actuators_.size(); ++i) {
      recorder_->actuator(i, tick, now, actuators_[i]);
    }
    for (std::uint64_t i = logged; i < tick_.log.total(); ++i) {
      recorder_->intervened(now, tick_.log.at(i));
    }
  }

  std::vector<InputPort> input_ports_;    // in the order of the binding
  std::vector<OutputPort> output_ports_;  // the same
  std::vector<std::vector<std::byte>> gathered_;
  std::vector<void*> input_memory_;
  std::vector<const void*> output_memory_;
  bool active_ = false;
  PolicyRunner runner_;  // last: its thread uses the others
};

Controller::Controller(const std::filesystem::path& bundle, const Robot& robot,
                       ControllerOptions options)
    : impl_(std::make_unique<Impl>(bundle, robot, std::move(options))) {}
Controller::~Controller() = default;
Controller::Controller(Controller&&) noexcept = default;
Controller& Controller::operator=(Controller&&) noexcept = default;

const Robot& Controller::robot() const noexcept {
  return impl_->robot_;
}
const Bundle& Controller::bundle() const noexcept {
  return impl_->manager_.bundle();
}
const RobotBinding& Controller::binding() const noexcept {
  return impl_->binding_;
}
std::size_t Controller::decimation() const noexcept {
  return impl_->plan_.decimation;
}

std::size_t Controller::sensor(std::string_view name) const {
  return find_signal(impl_->robot_.sensors, name, "sensor");
}
std::size_t Controller::actuator(std::string_view name) const {
  return find_signal(impl_->robot_.actuators, name, "actuator");
}

void Controller::start() {
  impl_->start();
}
void Controller::stop() {
  impl_->stop();
}

void Controller::set_sensor(std::size_t sensor, std::span<const double> values) noexcept {
  set_sensor(sensor, values, nanoseconds(0));
}

void Controller::set_sensor(std::size_t sensor, std::span<const double> values,
                            nanoseconds age) noexcept {
  if (sensor >= impl_->sensors_.size() || age.count() < 0) return;
  SensorValues& signal = impl_->sensors_[sensor];
  if (values.size() != signal.values.size()) return;
  std::copy(values.begin(), values.end(), signal.values.begin());
  signal.age = age;
  signal.fresh = true;
}

std::span<double> Controller::sensor_values(std::size_t sensor) noexcept {
  return sensor < impl_->sensors_.size() ? std::span(impl_->sensors_[sensor].values)
                                         : std::span<double>();
}

void Controller::set_fresh(std::size_t sensor) noexcept {
  if (sensor >= impl_->sensors_.size()) return;
  impl_->sensors_[sensor].age = nanoseconds(0);
  impl_->sensors_[sensor].fresh = true;
}

ControllerState Controller::update() noexcept {
  return impl_->update();
}

std::span<double> Controller::actuator_values(std::size_t actuator) noexcept {
  return actuator < impl_->actuators_.size() ? std::span(impl_->actuators_[actuator])
                                             : std::span<double>();
}

std::uint64_t Controller::ticks() const noexcept {
  return impl_->tick_.tick;
}
const std::array<std::uint64_t, kCauses>& Controller::counts() const noexcept {
  return impl_->tick_.log.counts();
}
std::vector<Intervention> Controller::interventions() const {
  return impl_->tick_.log.last();
}
std::string_view Controller::failure() const noexcept {
  return impl_->failure_ ? impl_->failure_->message() : std::string_view();
}
std::uint64_t Controller::dropped() const noexcept {
  return impl_->recorder_ ? impl_->recorder_->dropped() : 0;
}

}  // namespace leapp
