#include "leapp/controller.h"

#include <optional>

#include "controller/bound_policy.h"

namespace leapp {

using std::chrono::nanoseconds;

/// Connects step.h with clock, engine, worker and recording.
class Controller::Impl {
 public:
  Impl(const std::filesystem::path& path, const Robot& robot, ControllerOptions options)
      : robot_(robot),
        options_(checked(robot_, std::move(options))),
        policy_(path, robot_, options_),
        plan_(make_tick_plan(policy_.bundle(), robot_, policy_.binding(), options_)),
        tick_(plan_),
        signals_(plan_) {
    if (options_.recording.empty()) return;
    const RecordedPolicy recorded{{}, policy_.bundle(), policy_.binding()};
    recorder_.emplace(options_.recording, robot_, std::span(&recorded, 1),
                      options_.runtime.noise_seed);
  }

  void start() {
    policy_.start();
    tick_.restart();
    active_ = true;
    if (recorder_) recorder_->started(options_.clock());
  }

  void stop() {
    policy_.finish();
    active_ = false;
  }

  ControllerState update() noexcept {
    if (!active_) return ControllerState::kInactive;
    const nanoseconds now = options_.clock();
    const std::uint64_t tick = tick_.tick;
    const std::uint64_t logged = tick_.log.total();
    Recorder* const recorder = recorder_ ? &*recorder_ : nullptr;
    const StepOutcome outcome = policy_.tick(plan_, tick_, signals_, now, recorder, 0);
    if (recorder_) {
      recorder_->signals(tick, now, signals_.sensors, signals_.actuators);
      recorder_->interventions(0, now, tick_.log, logged);
    }
    return outcome.state;
  }

  Robot robot_;
  ControllerOptions options_;
  BoundPolicy policy_;
  TickPlan plan_;
  TickState tick_;
  SignalMemory signals_;
  std::optional<Recorder> recorder_;

 private:
  bool active_ = false;
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
  return impl_->policy_.bundle();
}
const RobotBinding& Controller::binding() const noexcept {
  return impl_->policy_.binding();
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

Result<void> Controller::set_sensor(std::size_t sensor, std::span<const double> values) noexcept {
  return impl_->signals_.set(sensor, values, nanoseconds(0));
}
Result<void> Controller::set_sensor(std::size_t sensor, std::span<const double> values,
                                    nanoseconds age) noexcept {
  return impl_->signals_.set(sensor, values, age);
}
std::span<double> Controller::sensor_values(std::size_t sensor) noexcept {
  return impl_->signals_.sensor_values(sensor);
}
Result<void> Controller::set_fresh(std::size_t sensor) noexcept {
  return impl_->signals_.set_fresh(sensor);
}

ControllerState Controller::update() noexcept {
  return impl_->update();
}

std::span<double> Controller::actuator_values(std::size_t actuator) noexcept {
  return impl_->signals_.actuator_values(actuator);
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
  return impl_->policy_.failure();
}
std::uint64_t Controller::dropped() const noexcept {
  return impl_->recorder_ ? impl_->recorder_->dropped() : 0;
}

}  // namespace leapp
