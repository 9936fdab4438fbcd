// The plan of a tick, computed once: the order of the steps, and the buffer of each port. It
// contains structure only, no memory and no models.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bundle/noise.h"
#include "bundle/timing.h"
#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

/// One buffer. A producer writes it, and all its consumers read it in place.
struct PlannedValue {
  std::string name;  ///< "node/port" of the output, or of the input if nothing inside writes it
  DType dtype = DType::kFloat32;
  Shape shape;
  /// True if it is also read one tick later: it is then a pair of buffers that are swapped after
  /// each tick.
  bool doubled = false;
  /// The value is kept in ticks in which its node does not run.
  bool held = false;
};

/// The way a port uses a value.
struct Access {
  std::size_t value = 0;
  bool last_tick = false;  ///< reads the buffer that the last tick wrote
};

/// One run of one engine: a node, or several merged nodes.
struct PlannedStep {
  std::vector<std::size_t> models;  ///< indices into the bundle, in order of execution
  /// The signature. Ports of merged nodes are named "node/port", and inner wires are left out.
  Model model;
  std::vector<Access> inputs;   ///< in the order of model.inputs
  std::vector<Access> outputs;  ///< in the order of model.outputs
};

/// A feedback wire that goes to more than one input: the first input shares the producer's pair of
/// buffers. Each of the others has its own pair, so it can be set separately.
struct FeedbackCopy {
  std::size_t from = 0;
  std::size_t to = 0;
};

/// The time at which one step runs, in a plan with a schedule. Numbers are indices of values.
struct StepTiming {
  struct Age {
    std::size_t value = 0;
    std::size_t step = 0;
  };

  Timing timing;                    ///< the periods; ports are below
  std::vector<FeedbackCopy> fill;   ///< carried inputs from their sources, before the first run
  std::vector<FeedbackCopy> carry;  ///< carried inputs from outputs, between two runs
  std::optional<std::size_t> index;
  std::optional<std::size_t> when;
  std::vector<std::size_t> watched;  ///< inputs of on_change
  std::vector<Age> ages;
  /// For a conditional step: each output, and the place of its previous value for undo_tick().
  /// After an undone tick, the step may not run again, because its inputs differ.
  std::vector<FeedbackCopy> former;
};

/// A feedback wire of a plan with a schedule. The input has its own buffer, and another one for the
/// value before the last tick. It is copied after each tick in which the step of the source ran.
struct HeldFeedback {
  std::size_t step = 0;
  std::size_t from = 0;
  std::size_t to = 0;
  std::size_t former = 0;
};

/// An output that keeps its value over ticks, and the forward inputs that read it.
struct HeldOutput {
  std::size_t step = 0;
  std::size_t value = 0;
  std::vector<std::string> readers;
};

/// A noise port: an external input that the runtime fills unless the caller does.
struct PlannedNoise {
  std::size_t input = 0;  ///< among Plan::external_inputs
  std::size_t value = 0;
  std::size_t step = 0;
  NoiseDistribution distribution = NoiseDistribution::kUniform;
};

struct Plan {
  using PortTable = std::unordered_map<std::string, Access>;

  std::vector<PlannedValue> values;
  std::vector<PlannedStep> steps;
  std::vector<FeedbackCopy> copies;  ///< copied after a successful tick
  std::vector<StepTiming> timings;   ///< one per step; empty if every step runs once per tick
  std::vector<HeldFeedback> held_feedback;  ///< with timings, in place of copies and pairs
  std::vector<HeldOutput> held_outputs;
  PortTable inputs;   ///< every node input that has a buffer, by "node/port"
  PortTable outputs;  ///< every node output that has one

  /// Inputs that a caller supplies, as the YAML lists them, and then the noise ports.
  std::vector<std::string> external_inputs;
  std::vector<PlannedNoise> noise;  ///< in the order of noise_ports()
  std::vector<std::string> external_outputs;
  std::vector<std::string> feedback_inputs;
};

/// Plans a bundle that check() has accepted. `groups` are the steps: models in order of execution.
/// The models of one group are merged; their timings are equal and only periodic.
LEAPP_EXPORT Plan make_plan(const Bundle& bundle,
                            const std::vector<std::vector<std::size_t>>& groups);

/// Finds the port named "node/port", by the rule of base/port_suffix.h.
const Access* find_port(const Plan::PortTable& table, std::string_view name,
                        std::string_view suffix);

}  // namespace leapp
