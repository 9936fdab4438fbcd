#include "leapp/supervisor.h"

#include <atomic>

#include "base/check.h"
#include "base/join.h"
#include "base/utf8.h"
#include "controller/bound_policy.h"
#include "controller/supervise.h"
#include "leapp/error.h"

namespace leapp {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kNoRequest = ~std::size_t{0};

const Supervision& checked(const Supervision& supervision) {
  check(supervision);
  return supervision;
}

std::vector<std::string> names_of(const Supervision& supervision) {
  std::vector<std::string> names;
  for (const SupervisedPolicy& policy : supervision.policies) names.push_back(policy.name);
  return names;
}

std::size_t find_name(const std::vector<std::string>& names, std::string_view name,
                      const char* what) {
  const auto found = std::find(names.begin(), names.end(), name);
  require(found != names.end(), Code::kSupervision,
          std::string("there is no ") + what + " " + quote_for_message(name) +
              "; there are: " + join(names));
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

std::string_view name_of(SwitchEvent event) noexcept {
  switch (event) {
    case SwitchEvent::kSwitched:
      return "switched";
    case SwitchEvent::kRefused:
      return "refused";
    case SwitchEvent::kEmergencyStop:
      return "emergency_stop";
    case SwitchEvent::kCleared:
      return "cleared";
  }
  return "";
}

/// Connects supervise.h and step.h with clock, engines, workers, recording, and requests of other
/// threads.
class Supervisor::Impl {
 public:
  Impl(const Supervision& supervision, const Robot& robot, ControllerOptions options)
      : supervision_(checked(supervision)),
        robot_(robot),
        options_(leapp::checked(robot_, std::move(options))) {
    require(options_.blend_in.count() == 0, Code::kControllerOptions,
            "set blend_in in the description of the supervisor, for each policy or for all");
    std::vector<PolicyOnRobot> on_robot;
    for (const SupervisedPolicy& policy : supervision_.policies) add_policy(policy, on_robot);
    plan_ = make_supervisor_plan(supervision_, robot_, on_robot, options_);
    state_.emplace(plan_);
    signals_.emplace(plan_.policies[0]);
    flags_ = std::vector<std::atomic<std::uint8_t>>(plan_.flags.size());
    flags_now_.resize(plan_.flags.size());
    busy_.resize(policies_.size());
    if (!options_.recording.empty()) start_recording();
  }

  void start() {
    for (const auto& policy : policies_) policy->start();
    state_->restart();
    request_.store(kNoRequest);
    running_ = true;
    if (recorder_) recorder_->started(options_.clock());
  }

  void stop() {
    for (const auto& policy : policies_) policy->finish();
    running_ = false;
  }

  ControllerState update() noexcept {
    if (!running_) return ControllerState::kInactive;
    const nanoseconds now = options_.clock();
    const std::uint64_t decided = state_->log.total();
    if (supervise(plan_, *state_, read_inputs(), now)) policies_[state_->active]->restart();
    if (recorder_) {
      for (std::uint64_t i = decided; i < state_->log.total(); ++i) {
        recorder_->switched(now, state_->log.at(i));
      }
    }
    return run_active(now);
  }

  void require_policy(std::size_t policy) const {
    require(policy < policies_.size(), Code::kSupervision,
            "there is no policy " + std::to_string(policy) + "; there are " +
                std::to_string(policies_.size()));
  }

  Supervision supervision_;
  Robot robot_;
  ControllerOptions options_;
  std::vector<std::unique_ptr<BoundPolicy>> policies_;
  SupervisorPlan plan_;
  std::optional<SupervisorState> state_;
  std::optional<SignalMemory> signals_;
  std::optional<Recorder> recorder_;
  // Written by any thread.
  std::vector<std::atomic<std::uint8_t>> flags_;
  std::atomic<std::size_t> request_{kNoRequest};
  std::atomic<bool> stop_{false};
  std::atomic<bool> clear_{false};

 private:
  void add_policy(const SupervisedPolicy& policy, std::vector<PolicyOnRobot>& on_robot) {
    const ControllerOptions own = options_of(policy, supervision_, options_);
    try {
      policies_.push_back(std::make_unique<BoundPolicy>(policy.bundle, robot_, own));
    } catch (const Error& error) {
      throw error.behind("policy " + quote_for_message(policy.name) + ": ");
    }
    on_robot.push_back({policies_.back()->bundle(), policies_.back()->binding()});
  }

  void start_recording() {
    std::vector<RecordedPolicy> recorded;
    for (std::size_t p = 0; p < policies_.size(); ++p) {
      recorded.push_back(
          {supervision_.policies[p].name, policies_[p]->bundle(), policies_[p]->binding()});
    }
    recorder_.emplace(options_.recording, robot_, recorded, options_.runtime.noise_seed);
  }

  /// Collects the requests of other threads since the last tick.
  SupervisorInputs read_inputs() noexcept {
    for (std::size_t i = 0; i < flags_.size(); ++i) {
      flags_now_[i] = flags_[i].load(std::memory_order_relaxed);
    }
    for (std::size_t p = 0; p < policies_.size(); ++p) busy_[p] = policies_[p]->is_busy() ? 1 : 0;
    SupervisorInputs inputs{signals_->sensors, flags_now_, busy_};
    inputs.clear = clear_.exchange(false, std::memory_order_acquire);
    inputs.stop = stop_.exchange(false, std::memory_order_acquire);
    const std::size_t request = request_.exchange(kNoRequest, std::memory_order_relaxed);
    if (request != kNoRequest) inputs.request = request;
    return inputs;
  }

  ControllerState run_active(nanoseconds now) noexcept {
    const std::size_t active = state_->active;
    TickState& tick = state_->policies[active];
    const std::uint64_t number = tick.tick;
    const std::uint64_t logged = tick.log.total();
    Recorder* const recorder = recorder_ ? &*recorder_ : nullptr;
    BoundPolicy& policy = *policies_[active];
    const StepOutcome outcome =
        policy.tick(plan_.policies[active], tick, *signals_, now, recorder, active);
    if (!policy.result().empty()) note_result(plan_, *state_, policy.result());
    if (recorder_) {
      recorder_->signals(number, now, signals_->sensors, signals_->actuators);
      recorder_->interventions(active, now, tick.log, logged);
    }
    return outcome.state;
  }

  std::vector<std::uint8_t> flags_now_;
  std::vector<std::uint8_t> busy_;
  bool running_ = false;
};

Supervisor::Supervisor(const Supervision& supervision, const Robot& robot,
                       ControllerOptions options)
    : impl_(std::make_unique<Impl>(supervision, robot, std::move(options))) {}
Supervisor::~Supervisor() = default;
Supervisor::Supervisor(Supervisor&&) noexcept = default;
Supervisor& Supervisor::operator=(Supervisor&&) noexcept = default;

const Supervision& Supervisor::supervision() const noexcept {
  return impl_->supervision_;
}
const Robot& Supervisor::robot() const noexcept {
  return impl_->robot_;
}
const Bundle& Supervisor::bundle(std::size_t policy) const {
  impl_->require_policy(policy);
  return impl_->policies_[policy]->bundle();
}
const RobotBinding& Supervisor::binding(std::size_t policy) const {
  impl_->require_policy(policy);
  return impl_->policies_[policy]->binding();
}

std::size_t Supervisor::policy(std::string_view name) const {
  return find_name(names_of(impl_->supervision_), name, "policy");
}
std::size_t Supervisor::flag(std::string_view name) const {
  return find_name(impl_->plan_.flags, name, "flag");
}
std::size_t Supervisor::sensor(std::string_view name) const {
  return find_signal(impl_->robot_.sensors, name, "sensor");
}
std::size_t Supervisor::actuator(std::string_view name) const {
  return find_signal(impl_->robot_.actuators, name, "actuator");
}

void Supervisor::start() {
  impl_->start();
}
void Supervisor::stop() {
  impl_->stop();
}

Result<void> Supervisor::request(std::size_t policy) noexcept {
  if (policy >= impl_->policies_.size()) {
    return Failure(Code::kSupervision,
                   "no policy has that index; use an index that policy() returned");
  }
  impl_->request_.store(policy, std::memory_order_relaxed);
  return {};
}
Result<void> Supervisor::set_flag(std::size_t flag, bool value) noexcept {
  if (flag >= impl_->flags_.size()) {
    return Failure(Code::kSupervision, "no flag has that index; use an index that flag() returned");
  }
  impl_->flags_[flag].store(value ? 1 : 0, std::memory_order_relaxed);
  return {};
}
void Supervisor::emergency_stop() noexcept {
  impl_->stop_.store(true, std::memory_order_release);
}
void Supervisor::clear_emergency_stop() noexcept {
  impl_->clear_.store(true, std::memory_order_release);
}

Result<void> Supervisor::set_sensor(std::size_t sensor, std::span<const double> values) noexcept {
  return impl_->signals_->set(sensor, values, nanoseconds(0));
}
Result<void> Supervisor::set_sensor(std::size_t sensor, std::span<const double> values,
                                    nanoseconds age) noexcept {
  return impl_->signals_->set(sensor, values, age);
}
std::span<double> Supervisor::sensor_values(std::size_t sensor) noexcept {
  return impl_->signals_->sensor_values(sensor);
}
Result<void> Supervisor::set_fresh(std::size_t sensor) noexcept {
  return impl_->signals_->set_fresh(sensor);
}

ControllerState Supervisor::update() noexcept {
  return impl_->update();
}

std::span<double> Supervisor::actuator_values(std::size_t actuator) noexcept {
  return impl_->signals_->actuator_values(actuator);
}

std::size_t Supervisor::active() const noexcept {
  return impl_->state_->active;
}
bool Supervisor::is_emergency_stopped() const noexcept {
  return impl_->state_->emergency;
}

std::uint64_t Supervisor::ticks() const noexcept {
  return impl_->state_->policies[impl_->state_->active].tick;
}
const std::array<std::uint64_t, kSwitchEvents>& Supervisor::switch_counts() const noexcept {
  return impl_->state_->log.counts();
}
std::vector<SwitchRecord> Supervisor::switches() const {
  return impl_->state_->log.last();
}
const std::array<std::uint64_t, kCauses>& Supervisor::counts(std::size_t policy) const {
  impl_->require_policy(policy);
  return impl_->state_->policies[policy].log.counts();
}
std::vector<Intervention> Supervisor::interventions(std::size_t policy) const {
  impl_->require_policy(policy);
  return impl_->state_->policies[policy].log.last();
}
std::string_view Supervisor::failure(std::size_t policy) const {
  impl_->require_policy(policy);
  return impl_->policies_[policy]->failure();
}
std::uint64_t Supervisor::dropped() const noexcept {
  return impl_->recorder_ ? impl_->recorder_->dropped() : 0;
}

}  // namespace leapp
