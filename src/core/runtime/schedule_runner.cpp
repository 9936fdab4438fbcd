#include "runtime/schedule_runner.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace leapp {
namespace {

Tensor number(std::int64_t value) {
  return Tensor({1}, {value});
}

std::int64_t number_of(const Tensor& tensor) noexcept {
  std::int64_t value = 0;
  std::memcpy(&value, tensor.data(), sizeof(value));
  return value;
}

}  // namespace

ScheduleRunner::ScheduleRunner(const Plan& plan, const Buffers& buffers, DeviceMemory* memory,
                               NoiseFiller* noise)
    : plan_(plan), buffers_(buffers), memory_(memory), noise_(noise) {
  std::size_t largest = 1;
  for (const StepTiming& timing : plan.timings) {
    Step& step = steps_.emplace_back();
    for (const std::size_t value : timing.watched) {
      const std::size_t bytes = buffers.byte_size(value);
      largest = std::max(largest, bytes);
      step.watched.push_back(
          {.value = value, .seen = {std::vector<std::byte>(bytes), std::vector<std::byte>(bytes)}});
    }
  }
  if (memory_ != nullptr) scratch_.resize(largest);
}

void ScheduleRunner::begin_tick() noexcept {
  for (Step& step : steps_) step.ran = false;
}

Result<bool> ScheduleRunner::is_due(std::size_t index) noexcept {
  const StepTiming& timing = plan_.timings[index];
  if (!timing.timing.is_due(tick_)) return false;
  if (timing.when) {
    const Result<const std::byte*> value = bytes_of(*timing.when);
    if (!value) return value.failure();
    if (**value == std::byte{0}) return false;
  }
  const Step& step = steps_[index];
  if (timing.watched.empty() || step.last_run == kNeverRan) return true;
  return has_changed(step);
}

Result<bool> ScheduleRunner::has_changed(const Step& step) noexcept {
  for (const Watched& watched : step.watched) {
    const std::vector<std::byte>& seen = watched.seen[watched.latest];
    if (seen.empty()) continue;
    const Result<const std::byte*> value = bytes_of(watched.value);
    if (!value) return value.failure();
    if (std::memcmp(*value, seen.data(), seen.size()) != 0) return true;
  }
  return false;
}

// Marks the step as run only when everything is kept that roll_back() restores.
Result<void> ScheduleRunner::keep_former(std::size_t index) noexcept {
  Step& step = steps_[index];
  for (const FeedbackCopy& former : plan_.timings[index].former) {
    if (Result<void> kept = copy(former.to, former.from); !kept) return kept;
  }
  for (Watched& watched : step.watched) {
    std::vector<std::byte>& next = watched.seen[1 - watched.latest];
    if (next.empty()) continue;
    const Result<const std::byte*> value = bytes_of(watched.value);
    if (!value) return value.failure();
    std::memcpy(next.data(), *value, next.size());
  }
  for (Watched& watched : step.watched) watched.latest = 1 - watched.latest;
  step.former_run = std::exchange(step.last_run, static_cast<std::int64_t>(tick_));
  step.ran = true;
  return {};
}

Result<void> ScheduleRunner::run(std::size_t index, Binding& binding) noexcept {
  if (Result<void> kept = keep_former(index); !kept) return kept;
  const StepTiming& timing = plan_.timings[index];
  for (const StepTiming::Age& age : timing.ages) {
    const std::int64_t last_run = steps_[age.step].last_run;
    const std::int64_t ticks =
        last_run == kNeverRan ? kNeverRan : static_cast<std::int64_t>(tick_) - last_run;
    if (Result<void> written = write_count(age.value, ticks); !written) return written;
  }
  const auto repeat = static_cast<std::uint64_t>(timing.timing.repeat);
  for (std::uint64_t run = 0; run < repeat; ++run) {
    if (noise_ != nullptr) {
      if (Result<void> drawn = noise_->fill(index, tick_ * repeat + run, run); !drawn) return drawn;
    }
    for (const FeedbackCopy& carry : run == 0 ? timing.fill : timing.carry) {
      if (Result<void> carried = copy(carry.to, carry.from); !carried) return carried;
    }
    if (timing.index) {
      if (Result<void> written = write_count(*timing.index, static_cast<std::int64_t>(run));
          !written)
        return written;
    }
    if (Result<void> ran = binding.run(); !ran) return ran;
  }
  return {};
}

Result<void> ScheduleRunner::warm_up(std::size_t index, Binding& binding) noexcept {
  const StepTiming& timing = plan_.timings[index];
  for (const StepTiming::Age& age : timing.ages) {
    if (Result<void> written = write_count(age.value, 0); !written) return written;
  }
  if (timing.index) {
    if (Result<void> written = write_count(*timing.index, 0); !written) return written;
  }
  for (const FeedbackCopy& fill : timing.fill) {
    if (Result<void> filled = copy(fill.to, fill.from); !filled) return filled;
  }
  return binding.run();
}

Result<void> ScheduleRunner::end_tick() noexcept {
  for (const HeldFeedback& wire : plan_.held_feedback) {
    if (!steps_[wire.step].ran) continue;
    if (Result<void> kept = copy(wire.former, wire.to); !kept) return kept;
  }
  for (const HeldFeedback& wire : plan_.held_feedback) {
    if (!steps_[wire.step].ran) continue;
    if (Result<void> copied = copy(wire.to, wire.from); !copied) {
      [[maybe_unused]] const Result<void> restored = restore_feedback();
      return copied;
    }
  }
  ++tick_;
  return {};
}

Result<void> ScheduleRunner::restore_feedback() noexcept {
  for (const HeldFeedback& wire : plan_.held_feedback) {
    if (!steps_[wire.step].ran) continue;
    if (Result<void> restored = copy(wire.to, wire.former); !restored) return restored;
  }
  return {};
}

Result<void> ScheduleRunner::roll_back() noexcept {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    if (!std::exchange(step.ran, false)) continue;
    step.last_run = step.former_run;
    for (Watched& watched : step.watched) watched.latest = 1 - watched.latest;
    for (const FeedbackCopy& former : plan_.timings[i].former) {
      if (Result<void> restored = copy(former.from, former.to); !restored) return restored;
    }
  }
  return {};
}

Result<void> ScheduleRunner::undo_tick() noexcept {
  if (Result<void> restored = restore_feedback(); !restored) return restored;
  --tick_;
  return roll_back();
}

void ScheduleRunner::reset() noexcept {
  tick_ = 0;
  for (Step& step : steps_) {
    step.last_run = kNeverRan;
    step.ran = false;
  }
}

std::int64_t ScheduleRunner::age(std::size_t step) const noexcept {
  const std::int64_t last_run = steps_[step].last_run;
  return last_run == kNeverRan ? kNeverRan : static_cast<std::int64_t>(tick_) - 1 - last_run;
}

Result<void> ScheduleRunner::copy(std::size_t to, std::size_t from) noexcept {
  const std::size_t bytes = buffers_.byte_size(to);
  if (bytes == 0) return {};
  void* const target = buffers_.view(to, 0).data;
  const void* const source = buffers_.view(from, 0).data;
  if (memory_ != nullptr) {
    return memory_->copy(target, source, bytes, DeviceMemory::Copy::kWithin);
  }
  std::memcpy(target, source, bytes);
  return {};
}

Result<void> ScheduleRunner::write_count(std::size_t value, std::int64_t count) noexcept {
  const TensorView& view = buffers_.view(value, 0);
  const auto narrow = static_cast<std::int32_t>(
      std::min<std::int64_t>(count, std::numeric_limits<std::int32_t>::max()));
  const void* const bytes = view.dtype == DType::kInt32 ? static_cast<const void*>(&narrow)
                                                        : static_cast<const void*>(&count);
  const std::size_t size = buffers_.byte_size(value);
  if (memory_ != nullptr) {
    return memory_->copy(view.data, bytes, size, DeviceMemory::Copy::kToDevice);
  }
  std::memcpy(view.data, bytes, size);
  return {};
}

Result<const std::byte*> ScheduleRunner::bytes_of(std::size_t value) noexcept {
  const void* const data = buffers_.view(value, 0).data;
  if (memory_ == nullptr) return static_cast<const std::byte*>(data);
  if (Result<void> fetched = memory_->copy(scratch_.data(), data, buffers_.byte_size(value),
                                           DeviceMemory::Copy::kToHost);
      !fetched) {
    return fetched.failure();
  }
  return static_cast<const std::byte*>(scratch_.data());
}

std::vector<std::pair<std::string, Tensor>> ScheduleRunner::position() const {
  std::vector<std::pair<std::string, Tensor>> position;
  position.emplace_back("/tick", number(static_cast<std::int64_t>(tick_)));
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const std::string& name = plan_.steps[i].model.name;
    position.emplace_back("/last_run/" + name, number(steps_[i].last_run));
    for (const Watched& watched : steps_[i].watched) {
      const TensorView& view = buffers_.view(watched.value, 0);
      Tensor seen(view.dtype, view.shape);
      const std::vector<std::byte>& bytes = watched.seen[watched.latest];
      if (!bytes.empty()) std::memcpy(seen.data(), bytes.data(), bytes.size());
      position.emplace_back("/seen/" + name + "/" + plan_.values[watched.value].name,
                            std::move(seen));
    }
  }
  return position;
}

void ScheduleRunner::set_position(
    const std::vector<std::pair<std::string, Tensor>>& position) noexcept {
  std::size_t at = 0;
  tick_ = static_cast<std::uint64_t>(number_of(position[at++].second));
  for (Step& step : steps_) {
    step.last_run = number_of(position[at++].second);
    step.ran = false;
    for (Watched& watched : step.watched) {
      std::vector<std::byte>& bytes = watched.seen[watched.latest];
      const Tensor& seen = position[at++].second;
      if (!bytes.empty()) std::memcpy(bytes.data(), seen.data(), bytes.size());
    }
  }
}

}  // namespace leapp
