// The source of every input of a pipeline. All code that runs, checks, merges or translates a
// bundle reads `data_flow` and `feedback_flow` here.
//
// A tick runs every node once, in order(). An input then receives
// - through a wire of `data_flow`, its source's output of this tick, because the source ran before;
// - through a wire of `feedback_flow`, its source's output of the previous tick, even if the source
//   runs earlier in the tick; in the first tick, its initial value;
// - without a wire, the value that the caller supplies.
// Source::runs_ago says the same in runs of the source, for code that runs nodes one by one, if
// every node runs once in every tick.
//
// With a schedule (Pipeline::schedule), timing() says when a node runs, and a wire of data_flow
// carries its source's latest output, from any tick. A wire of feedback_flow carries the latest
// output from before this tick. Before the source has run, both carry the initial value.
//
// Nodes are indices into Bundle::models, ports are indices into a node's inputs or outputs. A
// wiring holds indices only, so the bundle need not outlive it. Immutable: any thread may read it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "bundle/port_index.h"
#include "bundle/timing.h"
#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

class RuleReporter;

class LEAPP_EXPORT Wiring {
 public:
  struct Source {
    PortIndex output;
    bool last_tick = false;  ///< a wire of feedback_flow
    std::size_t runs_ago =
        1;  ///< age in runs of the source when the reader runs: 1 for the latest run, or 2
  };

  /// One wire to one input.
  struct Connection {
    PortIndex source;
    PortIndex target;
    bool last_tick = false;
  };

  /// One node that has to run before another: because of a forward wire, or of a schedule.
  struct Precedence {
    std::size_t before = 0;
    std::size_t after = 0;
    std::optional<std::size_t> wire = {};  ///< among connections(); empty: the schedule of `after`
  };

  /// Throws Error: B15 for a wire to a missing node or port, B18 if forward wires and conditions
  /// form a cycle, and B35 to B39 for an invalid schedule. check() finds all other faults.
  explicit Wiring(const Bundle& bundle);
  Wiring(const Bundle& bundle, const RuleReporter& reporter);

  /// Returns the nodes in the order in which a tick runs them: each producer before its consumers,
  /// each node before those whose schedule depends on its output or age, and otherwise in the order
  /// of the bundle.
  const std::vector<std::size_t>& order() const noexcept { return order_; }

  /// Returns every wire to every input: data_flow, then feedback_flow, in the order of the YAML.
  const std::vector<Connection>& connections() const noexcept { return connections_; }

  /// Returns every pair of nodes of which the first has to run before the second in a tick.
  const std::vector<Precedence>& precedences() const noexcept { return precedences_; }

  /// Returns whether a node may run other than once in every tick.
  bool has_schedule() const noexcept { return has_schedule_; }
  /// Returns when a node runs.
  const Timing& timing(std::size_t node) const { return timings_.at(node); }

  /// Returns the source of an input; empty if the caller or the schedule supplies the value.
  const std::optional<Source>& source_of(PortIndex input) const {
    return sources_.at(input.node).at(input.port);
  }

 private:
  std::vector<Connection> connections_;
  std::vector<Timing> timings_;
  bool has_schedule_;
  std::vector<Precedence> precedences_;
  std::vector<std::vector<std::optional<Source>>> sources_;  // by node and input
  std::vector<std::size_t> order_;
};

/// Returns the name of a port.
LEAPP_EXPORT PortRef input_ref(const Bundle& bundle, PortIndex input);
LEAPP_EXPORT PortRef output_ref(const Bundle& bundle, PortIndex output);

}  // namespace leapp
