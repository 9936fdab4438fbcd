// From the robot's sensors to the inputs of the policy: gathers by name, converts and checks.
//
// The functions take a plan and write only to the state and to memory that the caller provides.
// They do not allocate. docs/reference/controller.md numbers the rules (R..).
#pragma once

#include <chrono>
#include <span>

#include "controller/tick_state.h"

namespace leapp {

/// Adds the clock's step to every age, and marks the sensors that were measured: R2, R3.
void advance_time(TickState& state, std::span<const SensorValues> sensors,
                  std::chrono::nanoseconds clock) noexcept;

/// Takes the samples of time axes that are due in this tick: R7.
void sample_histories(const TickPlan& plan, TickState& state,
                      std::span<const SensorValues> sensors) noexcept;

/// Returns whether an input is too old or was never measured: R4.
bool is_stale(const InputPlan& input, const TickState& state) noexcept;

/// Returns whether any input is stale, and counts each.
bool are_stale(const TickPlan& plan, TickState& state) noexcept;

enum class FillOutcome { kGood, kBad, kStop };

/// Writes the inputs of the policy to `memory`, one address for each input: R5, R6. Counts its
/// findings. If the result is not kGood, the policy must not run.
FillOutcome fill_inputs(const TickPlan& plan, TickState& state,
                        std::span<const SensorValues> sensors,
                        std::span<void* const> memory) noexcept;

}  // namespace leapp
