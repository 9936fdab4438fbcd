#include "leapp/controller.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/utf8.h"
#include "controller/input_side.h"
#include "controller/intervention_log.h"
#include "controller/output_side.h"
#include "controller/policy_runner.h"
#include "controller/recorder.h"
#include "controller/schedule.h"
#include "controller/signals.h"
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

/// The robot, when it and the options make sense.
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

double find_frequency(const Bundle& bundle, const ControllerOptions& options) {
  if (options.frequency) return *options.frequency;
  const auto declared = contract_of(bundle.pipeline).frequency;
  require(declared.has_value(), Code::kControllerOptions,
          bundle.file.string() +
              ": the bundle does not say how often its policy runs; give the controller a "
              "frequency, or export with GraphConfigs(frequency=..)");
  return *declared;
}

}  // namespace

class Controller::Impl {
 public:
  Impl(const std::filesystem::path& path, const Robot& robot, ControllerOptions options)
      : robot_(checked(robot, options)),
        options_(std::move(options)),
        manager_(path, options_.runtime),
        binding_(bind_all()),
        decimation_(ticks_in(1 / find_frequency(manager_.bundle(), options_), robot_.rate,
                             "the period of the policy")),
        sensors_(make_values(robot_.sensors)),
        actuators_(make_values(robot_.actuators)),
        inputs_(manager_, binding_, sensors_, robot_.rate, decimation_),
        outputs_(manager_, binding_, robot_, sensors_, actuators_, decimation_, options_),
        deadline_(options_.deadline.value_or(nanoseconds(
            static_cast<std::int64_t>(1e9 * static_cast<double>(decimation_) / robot_.rate)))),
        runner_(manager_, options_.execution, options_.worker_poll) {
    if (!options_.clock) options_.clock = steady_now;
    manager_.prepare();
    if (!options_.recording.empty()) {
      recorder_.emplace(options_.recording, robot_, manager_.bundle(), binding_);
    }
  }

  void start() {
    runner_.settle();
    manager_.reset();
    inputs_.start();
    outputs_.start();
    log_.clear();
    for (SignalValues& sensor : sensors_) sensor.measured = SignalValues::kNever;
    tick_ = 0;
    late_ = false;
    bad_ = false;
    state_ = ControllerState::kWaiting;
    if (recorder_) recorder_->started(options_.clock());
  }

  void stop() {
    runner_.settle();
    state_ = ControllerState::kInactive;
  }

  ControllerState update() noexcept {
    if (state_ == ControllerState::kInactive) return state_;
    now_ = options_.clock();
    const std::uint64_t logged = log_.total();
    for (SignalValues& sensor : sensors_) sensor.stamp(now_);
    inputs_.sample(tick_, log_);
    if (runner_.phase() == PolicyRunner::Phase::kDone) harvest();
    if (state_ != ControllerState::kStopped && tick_ % decimation_ == 0) run_policy();
    if (options_.execution == Execution::kWorker) look_at_deadline();
    put_out();
    if (recorder_) record(logged);
    ++tick_;
    return state_;
  }

  Robot robot_;
  ControllerOptions options_;
  InferenceManager manager_;
  RobotBinding binding_;
  std::size_t decimation_;
  std::vector<SignalValues> sensors_;
  std::vector<SignalValues> actuators_;
  InterventionLog log_;
  std::uint64_t tick_ = 0;
  ControllerState state_ = ControllerState::kInactive;
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

  void run_policy() noexcept {
    if (runner_.phase() != PolicyRunner::Phase::kIdle) return;  // late; look_at_deadline() says so
    if (inputs_.is_stale(tick_, now_, log_)) {
      bad_ = true;
      return;
    }
    const InputSide::Outcome filled = inputs_.fill(tick_, log_);
    if (filled == InputSide::Outcome::kStop) state_ = ControllerState::kStopped;
    if (filled != InputSide::Outcome::kGood) {
      bad_ = true;
      return;
    }
    requested_ = tick_;
    requested_at_ = now_;
    late_ = false;
    runner_.request();
    if (runner_.phase() != PolicyRunner::Phase::kDone) return;
    if (options_.deadline && options_.execution == Execution::kSynchronous &&
        options_.clock() - now_ > deadline_) {
      log_.add(tick_, Cause::kLate, {});  // but here: what it says is used
    }
    harvest();
  }

  /// Takes the result of the policy, however late.
  void harvest() noexcept {
    const Result<void> result = runner_.take();
    if (!result) {
      failure_ = result.failure();
      log_.add(tick_, Cause::kTickFailed, {});
      bad_ = true;
      return;
    }
    if (recorder_) record_ports();
    const bool first = !outputs_.has_targets();
    if (!outputs_.accept(requested_, tick_, log_)) {
      bad_ = true;
      return;
    }
    if (first || bad_) outputs_.begin_blend(tick_);
    bad_ = false;
  }

  void look_at_deadline() noexcept {
    if (late_ || runner_.phase() != PolicyRunner::Phase::kRequested) return;
    if (now_ - requested_at_ < deadline_) return;
    late_ = true;
    bad_ = true;
    log_.add(tick_, Cause::kLate, {});
  }

  void put_out() noexcept {
    if (state_ == ControllerState::kStopped || bad_) {
      outputs_.fall_back();
      if (state_ != ControllerState::kStopped) state_ = ControllerState::kFallback;
    } else if (!outputs_.has_targets()) {
      outputs_.wait();
      state_ = ControllerState::kWaiting;
    } else if (outputs_.play(tick_, log_)) {
      state_ = ControllerState::kRunning;
    } else {
      outputs_.fall_back();
      state_ = ControllerState::kStopped;
    }
  }

  void record_ports() noexcept {
    for (std::size_t i = 0; i < binding_.inputs.size(); ++i) {
      recorder_->input(i, requested_, now_, inputs_.view(i));
    }
    for (std::size_t i = 0; i < binding_.outputs.size(); ++i) {
      recorder_->output(i, requested_, now_, outputs_.view(i));
    }
  }

  void record(std::uint64_t logged) noexcept {
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      recorder_->sensor(i, tick_, now_, sensors_[i].values);
    }
    for (std::size_t i = 0; i < actuators_.size(); ++i) {
      recorder_->actuator(i, tick_, now_, actuators_[i].values);
    }
    for (std::uint64_t i = logged; i < log_.total(); ++i) recorder_->intervened(now_, log_.at(i));
  }

  InputSide inputs_;
  OutputSide outputs_;
  nanoseconds deadline_;
  nanoseconds now_{0};
  std::uint64_t requested_ = 0;
  nanoseconds requested_at_{0};
  bool late_ = false;
  bool bad_ = false;     // the last result cannot be trusted
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
  return impl_->decimation_;
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
  if (sensor >= impl_->sensors_.size()) return;
  SignalValues& signal = impl_->sensors_[sensor];
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
  return actuator < impl_->actuators_.size() ? std::span(impl_->actuators_[actuator].values)
                                             : std::span<double>();
}

std::uint64_t Controller::ticks() const noexcept {
  return impl_->tick_;
}
const std::array<std::uint64_t, kCauses>& Controller::counts() const noexcept {
  return impl_->log_.counts();
}
std::vector<Intervention> Controller::interventions() const {
  return impl_->log_.last();
}
std::string_view Controller::failure() const noexcept {
  return impl_->failure_ ? impl_->failure_->message() : std::string_view();
}
std::uint64_t Controller::dropped() const noexcept {
  return impl_->recorder_ ? impl_->recorder_->dropped() : 0;
}

}  // namespace leapp
