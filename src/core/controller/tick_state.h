// Everything that a controller remembers from one tick of the loop to the next.
//
// Made once for a plan, with all its memory. Only the tick (step.h) changes it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "controller/history_ring.h"
#include "controller/intervention_log.h"
#include "controller/tick_plan.h"
#include "leapp/controller.h"

namespace leapp {

/// The newest values of a sensor, as the program on the robot sets them.
struct SensorValues {
  std::vector<double> values;
  bool fresh = false;               ///< set since the last tick
  std::chrono::nanoseconds age{0};  ///< of fresh values
};

struct SensorState {
  bool measured = false;  ///< at least once
  std::chrono::nanoseconds age{0};
};

struct InputState {
  std::vector<double> values;       ///< the newest reading, in the port's order and unit
  std::vector<double> previous;     ///< the last good reading, for the rate; NaN before the first
  HistoryRing history;              ///< of an input with a time axis
  std::chrono::nanoseconds age{0};  ///< of the last good sample of the time axis
  bool good = false;                ///< the last sample of the time axis can be used
};

struct OutputState {
  std::vector<double> incoming;  ///< every step of the newest result
  std::vector<double> chunk;     ///< every step of the result that is played
  std::vector<double> before;    ///< sent before that result was accepted
  std::vector<double> blend;     ///< where blending in began
  std::vector<double> next;      ///< the candidate of this tick
  std::vector<double> start;     ///< the previous values for the rate
  std::vector<double> sent;      ///< sent last, in the port's unit
  bool has_sent = false;
  bool from_other = false;  ///< `sent` is what another policy sent, and this one nothing since
};

struct TickState {
  explicit TickState(const TickPlan& plan);

  /// Forgets everything, as before the first tick. Keeps the memory.
  void restart();

  /// Makes the policy begin in this tick: forgets its result, its histories and its failures. Keeps
  /// time, sensors, what was sent and what was counted. Allocates nothing.
  void begin_policy() noexcept;

  std::uint64_t tick = 0;   ///< of the loop, since restart()
  std::uint64_t began = 0;  ///< tick in which the policy began
  ControllerState state = ControllerState::kWaiting;
  std::chrono::nanoseconds time{0};   ///< the steps forward of the clock, added up
  std::chrono::nanoseconds clock{0};  ///< read in the last tick

  bool handed_over =
      false;           ///< the policy began after another one: S9 of docs/reference/supervisor.md
  bool bad = false;    ///< the policy cannot be trusted until a good result comes
  bool asked = false;  ///< the policy shall run on the inputs of this tick
  bool unusable = false;  ///< the policy was due in this tick, and its inputs cannot be used
  bool has_targets = false;
  std::uint64_t requested = 0;               ///< tick of the request under way
  std::chrono::nanoseconds requested_at{0};  ///< its time
  bool late = false;                         ///< that request was counted as late
  std::uint64_t played = 0;                  ///< tick of the request whose result is played
  std::uint64_t blend_from = 0;              ///< tick in which blending in began

  std::vector<SensorState> sensors;
  std::vector<InputState> inputs;
  std::vector<OutputState> outputs;
  InterventionLog log;
};

/// Makes the memory that the program on the robot writes sensors to, and reads actuators from.
std::vector<SensorValues> make_sensors(const TickPlan& plan);
std::vector<std::vector<double>> make_actuators(const TickPlan& plan);

}  // namespace leapp
