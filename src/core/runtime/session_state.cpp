// The state of a session between ticks, as values to read and to restore.
#include <algorithm>

#include "base/check.h"
#include "runtime/session.h"

namespace leapp {
namespace {

constexpr const char* kTick = "/tick";  // as in ScheduleRunner::position()

}  // namespace

const TensorView& Session::before(const Access& access) const noexcept {
  if (schedule_runner_) {
    for (const HeldFeedback& wire : plan_.held_feedback) {
      if (wire.to == access.value && ran_in_last_tick(wire.step)) {
        return buffers_.view(wire.former, 0);
      }
    }
  }
  return buffers_.view(access.value, access.last_tick ? 1 - parity_ : parity_);
}

std::int64_t Session::age(std::size_t output) const noexcept {
  if (output >= outputs_.size()) return kNeverRan;
  if (schedule_runner_) return schedule_runner_->age(outputs_[output].step);
  return position_ > 0 ? 0 : kNeverRan;
}

Result<void> Session::restart(const std::vector<Tensor>& held) noexcept {
  position_ = 0;
  can_undo_ = false;
  if (schedule_runner_) schedule_runner_->reset();
  for (std::size_t i = 0; i < held.size(); ++i) {
    const TensorView& value = buffers_.view(plan_.held_outputs[i].value, 0);
    if (Result<void> stored = store(value, held[i].data()); !stored) return stored;
  }
  return {};
}

TensorMap Session::position() const {
  TensorMap state;
  if (schedule_runner_) {
    for (auto& [name, tensor] : schedule_runner_->position())
      state.emplace(name, std::move(tensor));
  } else if (!plan_.noise.empty()) {
    state.emplace(kTick, Tensor({1}, {static_cast<std::int64_t>(position_)}));
  }
  for (const HeldOutput& held : plan_.held_outputs) {
    state.emplace("/held/" + plan_.values[held.value].name, read(buffers_.view(held.value, 0)));
  }
  return state;
}

void Session::set_position(const TensorMap& state) {
  if (!schedule_runner_ && plan_.noise.empty()) return;
  const std::int64_t tick = state.at(kTick).values<std::int64_t>()[0];
  const auto require_run = [&](bool possible, const std::string& also) {
    require(possible, Code::kWrongValue,
            "no run can have this state: tick " + std::to_string(tick) + " comes next" + also);
  };
  require_run(tick >= 0, "");
  if (!schedule_runner_) {
    position_ = static_cast<std::uint64_t>(tick);
    can_undo_ = false;
    return;
  }
  auto position = schedule_runner_->position();
  for (auto& [name, tensor] : position) {
    tensor = state.at(name);
    if (!name.starts_with("/last_run/")) continue;
    const std::int64_t last_run = tensor.values<std::int64_t>()[0];
    require_run(last_run >= kNeverRan && last_run < tick,
                ", and " + name + " is " + std::to_string(last_run));
  }
  for (const HeldOutput& held : plan_.held_outputs) {
    const Tensor& value = state.at("/held/" + plan_.values[held.value].name);
    store(buffers_.view(held.value, 0), value.data()).value();
  }
  schedule_runner_->set_position(position);
  position_ = static_cast<std::uint64_t>(tick);
  can_undo_ = false;
}

Session::Values Session::values() const {
  Values copy{parity_, {}};
  for (std::size_t i = 0; i < plan_.values.size(); ++i) {
    std::array<Tensor, 2>& halves = copy.halves.emplace_back();
    for (std::size_t half = 0; half < (plan_.values[i].doubled ? 2u : 1u); ++half) {
      halves[half] = read(buffers_.view(i, half));
    }
  }
  return copy;
}

void Session::set_values(const Values& former) {
  parity_ = former.parity;
  for (std::size_t i = 0; i < plan_.values.size(); ++i) {
    const auto bound = [&](const ExternalInput& input) { return input.value == i && input.bound; };
    if (std::any_of(inputs_.begin(), inputs_.end(), bound)) continue;
    for (std::size_t half = 0; half < (plan_.values[i].doubled ? 2u : 1u); ++half) {
      store(buffers_.view(i, half), former.halves[i][half].data()).value();
    }
  }
}

}  // namespace leapp
