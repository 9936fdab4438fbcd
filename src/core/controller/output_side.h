// From the policy's outputs to the robot's actuators: played back, blended in, limited, converted.
//
// Each function computes candidates into OutputState::next or sends them; nothing is sent before
// the tick has decided. The functions take a plan, write only to the state and to memory that the
// caller provides, and do not allocate. Values are in the units of the ports until they are sent.
// docs/reference/controller.md numbers the rules (R..).
#pragma once

#include <span>
#include <vector>

#include "controller/tick_state.h"

namespace leapp {

/// The values of the actuators, by actuator and element.
using Actuators = std::span<std::vector<double>>;

/// Reads the newest result, one address for each output of the binding: R11. Returns false if a
/// value is not finite; it then counts that output, and the result must be discarded.
bool load_result(const TickPlan& plan, TickState& state,
                 std::span<const void* const> memory) noexcept;

/// Starts to play the loaded result, which was requested in tick `requested`: R11.
void accept_result(TickState& state, std::uint64_t requested) noexcept;

/// Starts to blend in from the values sent last, or else from the measured pose: R14.
void begin_blend(const TickPlan& plan, TickState& state,
                 std::span<const SensorValues> sensors) noexcept;

enum class PlayOutcome { kGood, kNotFinite, kStop };

/// Computes the targets of this tick as candidates, and counts limited values: R13 to R16.
PlayOutcome play(const TickPlan& plan, TickState& state,
                 std::span<const SensorValues> sensors) noexcept;

/// Sends all candidates: R18.
void send_all(const TickPlan& plan, TickState& state, Actuators actuators) noexcept;

/// Sends the measured pose to position targets, before there is a result: R12.
void send_measured(const TickPlan& plan, TickState& state, std::span<const SensorValues> sensors,
                   Actuators actuators) noexcept;

/// Sends the fallback of each output: R17.
void send_fallbacks(const TickPlan& plan, TickState& state, std::span<const SensorValues> sensors,
                    Actuators actuators) noexcept;

}  // namespace leapp
