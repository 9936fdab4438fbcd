// The source of every input of a pipeline. All code that runs, checks, merges or translates a
// bundle reads `data_flow` and `feedback_flow` here.
//
// A tick runs every node once, in order(). An input then receives
// - through a wire of `data_flow`, its source's output of this tick, because the source ran before;
// - through a wire of `feedback_flow`, its source's output of the previous tick, even if the source
//   runs earlier in the tick; in the first tick, its initial value;
// - without a wire, the value that the caller supplies.
// Source::runs_ago expresses the same in runs of the source, for code that runs single nodes. If
// nodes ever run at different rates, this class will define when they run, and which output a wire
// carries if its source did not run.
//
// Nodes are indices into Bundle::models, ports are indices into a node's inputs or outputs. A
// wiring holds indices only, so the bundle need not outlive it. Immutable: any thread may read it.
#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

class RuleReporter;

/// A port of one side; the context determines if it is an input or an output.
struct PortIndex {
  std::size_t node = 0;
  std::size_t port = 0;

  auto operator<=>(const PortIndex&) const = default;
};

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

  /// Throws Error with B15 for a wire to a missing node or port, and with B18 if the forward wires
  /// form a cycle. check() tests everything else.
  explicit Wiring(const Bundle& bundle);
  Wiring(const Bundle& bundle, const RuleReporter& reporter);

  /// Returns the nodes in the order in which a tick runs them: each producer before its consumers,
  /// otherwise in the order of the bundle.
  const std::vector<std::size_t>& order() const noexcept { return order_; }

  /// Returns every wire to every input: data_flow, then feedback_flow, in the order of the YAML.
  const std::vector<Connection>& connections() const noexcept { return connections_; }

  /// Returns the source of an input; empty if the caller supplies the value.
  const std::optional<Source>& source_of(PortIndex input) const {
    return sources_.at(input.node).at(input.port);
  }

 private:
  std::vector<Connection> connections_;
  std::vector<std::vector<std::optional<Source>>> sources_;  // by node and input
  std::vector<std::size_t> order_;
};

/// Returns the name of a port.
LEAPP_EXPORT PortRef input_ref(const Bundle& bundle, PortIndex input);
LEAPP_EXPORT PortRef output_ref(const Bundle& bundle, PortIndex output);

}  // namespace leapp
