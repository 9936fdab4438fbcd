// From the robot's sensors to the inputs of the policy: gathered by name, converted, checked.
//
// Functions of a plan that write only into the state and the memory they are given. They allocate
// nothing. docs/reference/controller.md numbers the rules (R..).
#pragma once

#include <chrono>
#include <span>

#include "controller/tick_state.h"

namespace leapp {

/// Adds the step of the clock to every age, and notes which sensors were measured: R2, R3.
void advance_time(TickState& state, std::span<const SensorValues> sensors,
                  std::chrono::nanoseconds clock) noexcept;

/// Takes the samples of time axes that are due in this tick: R7.
void sample_histories(const TickPlan& plan, TickState& state,
                      std::span<const SensorValues> sensors) noexcept;

/// Returns whether an input is too old or was never measured: R4.
bool is_stale(const InputPlan& input, const TickState& state) noexcept;

/// The same for any input; counts each.
bool are_stale(const TickPlan& plan, TickState& state) noexcept;

enum class FillOutcome { kGood, kBad, kStop };

/// Writes what the policy reads to `memory`, one address for each input: R5, R6. Counts what it
/// finds; after anything but kGood the policy must not run.
FillOutcome fill_inputs(const TickPlan& plan, TickState& state,
                        std::span<const SensorValues> sensors,
                        std::span<void* const> memory) noexcept;

}  // namespace leapp
