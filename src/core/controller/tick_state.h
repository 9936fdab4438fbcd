// The state of a controller between two ticks of the loop.
//
// Created once for a plan, with all its memory. Only the tick (step.h) changes it.
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

/// The newest values of a sensor, set by the program on the robot.
struct SensorValues {
  std::vector<double> values;
  bool fresh = false;               ///< set since the last tick
  std::chrono::nanoseconds age{0};  ///< age of fresh values
};

struct SensorState {
  bool measured = false;  ///< measured at least once
  std::chrono::nanoseconds age{0};
};

struct InputState {
  std::vector<double> values;    ///< the newest reading, in the port's order and unit
  std::vector<double> previous;  ///< the last good reading, for the rate; NaN before the first one
  HistoryRing history;           ///< the samples of a time axis
  std::chrono::nanoseconds age{0};  ///< age of the last good sample of the time axis
  bool good = false;                ///< the last sample of the time axis is usable
};

struct OutputState {
  std::vector<double> incoming;  ///< every step of the newest result
  std::vector<double> chunk;     ///< every step of the result that is being played
  std::vector<double> before;    ///< the value sent last when that result arrived
  std::vector<double> blend;     ///< the start of blending in
  std::vector<double> next;      ///< the candidate of this tick
  std::vector<double> start;     ///< previous values, for the rate
  std::vector<double> sent;      ///< values sent last, in the port's unit
  bool has_sent = false;
  bool from_other = false;  ///< `sent` contains a value of another policy; this one has sent
                            ///< nothing since
};

struct TickState {
  explicit TickState(const TickPlan& plan);

  /// Resets everything to the state before the first tick. Keeps the memory.
  void restart();

  /// Starts the policy in this tick: clears its result, its histories and its failures. Keeps time,
  /// sensors, sent values and counts. Does not allocate.
  void begin_policy() noexcept;

  std::uint64_t tick = 0;   ///< ticks of the loop since restart()
  std::uint64_t began = 0;  ///< tick in which the policy started
  ControllerState state = ControllerState::kWaiting;
  std::chrono::nanoseconds clock{0};  ///< clock reading of the last tick

  bool handed_over =
      false;           ///< the policy started after another one: S9 of docs/reference/supervisor.md
  bool bad = false;    ///< the policy cannot be trusted until a good result comes
  bool asked = false;  ///< the policy must run on the inputs of this tick
  bool unusable = false;  ///< the policy was due in this tick, but its inputs are unusable
  bool has_targets = false;
  std::uint64_t requested = 0;         ///< tick of the request in progress
  std::chrono::nanoseconds waited{0};  ///< time since then
  bool late = false;                   ///< that request was counted as late
  std::uint64_t played = 0;            ///< tick of the request whose result is being played
  std::uint64_t blend_from = 0;        ///< tick in which blending in started

  std::vector<SensorState> sensors;
  std::vector<InputState> inputs;
  std::vector<OutputState> outputs;
  InterventionLog log;
};

/// Creates the memory for sensors and actuators.
std::vector<SensorValues> make_sensors(const TickPlan& plan);
std::vector<std::vector<double>> make_actuators(const TickPlan& plan);

}  // namespace leapp
