// Runs the nodes of a pipeline one by one, each with its own memory, for the replay of golden
// traces and for shadow runs, which inspect every node. Session (runtime/session.h) runs whole
// ticks on shared memory. Both use the same Wiring and compute the same.
//
// The caller chooses the node to run, fills its inputs with carried() or with other values, runs
// it, and calls commit(). Before commit(), the node may run again on other inputs.
//
// With a schedule, the caller starts each tick with begin_tick(). It first fills the inputs that no
// forward wire feeds, because conditions may read them. Then it calls is_due() for every node in
// the order of the wiring, and runs the nodes that are due.
//
// Owns engines and memory; the bundle need not outlive it. run() and commit() allocate nothing. Not
// thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "bundle/timing.h"
#include "bundle/wiring.h"
#include "leapp/engine.h"
#include "leapp/tensor.h"
#include "leapp/visibility.h"

namespace leapp {

class LEAPP_EXPORT NodeExecutor {
 public:
  explicit NodeExecutor(const Bundle& bundle);

  const Wiring& wiring() const noexcept { return wiring_; }

  /// Sets the engine of a node. Throws the errors of Engine::bind(). A node without an engine does
  /// not run.
  void load(std::size_t node, std::unique_ptr<Engine> engine);
  bool is_loaded(std::size_t node) const { return nodes_.at(node).engine != nullptr; }

  /// Starts the next tick of the schedule; the first one is 0.
  void begin_tick() noexcept { ++tick_; }
  /// Makes the next tick tick 0. The caller forgets the nodes.
  void restart() noexcept { tick_ = -1; }
  /// Returns whether the node runs in this tick by the schedule, on its current inputs.
  bool is_due(std::size_t node) const;
  /// Returns whether the schedule feeds an input. run() then sets it, so the caller must not.
  bool is_fed_by_schedule(PortIndex input) const;

  /// Sets the value that forward wires of a schedule carry from an output until its node has run;
  /// by default zeros.
  void set_held(PortIndex output, const ConstTensorView& value);

  /// Sets the value that a feedback input has until its source has run; by default zeros.
  void set_initial(PortIndex input, const ConstTensorView& value);
  /// Returns the initial value; null for an input that is not fed back.
  const Tensor* initial(PortIndex input) const;

  /// Copies a value of the input's type and shape.
  void set_input(PortIndex input, const ConstTensorView& value);
  /// Sets the values of an input for each run of a `repeat`, in a further dimension in front.
  void set_runs(PortIndex input, const ConstTensorView& values);
  const Tensor& input(PortIndex input) const { return nodes_[input.node].inputs[input.port]; }

  /// Returns the value that the input's wire carries if its node runs now: the output of its
  /// source, by Wiring::Source::runs_ago, or the initial value. Null if there is no wire, or if the
  /// source of a forward wire has not run and there is no schedule.
  const Tensor* carried(PortIndex input) const;

  /// Runs the node on its current inputs, as often as its schedule requires, and does not change
  /// the inputs that the caller set. The outputs take effect at commit().
  Result<void> run(std::size_t node) noexcept;
  /// Returns an output of the run that commit() has not counted yet.
  const Tensor& result(PortIndex output) const;
  void commit(std::size_t node) noexcept;
  /// Returns the number of committed runs since the start or the last forget().
  std::uint64_t runs(std::size_t node) const noexcept { return nodes_[node].runs; }
  /// Treats the node as if it had not run: wires from it bring initial values again.
  void forget(std::size_t node) noexcept {
    nodes_[node].runs = 0;
    nodes_[node].last_run = kNeverRan;
  }

  /// Returns an output of the latest committed run (1) or of the previous one (2); null if there
  /// was no such run.
  const Tensor* output(PortIndex output, std::size_t runs_ago) const;

 private:
  struct Node {
    std::unique_ptr<Engine> engine = {};
    std::vector<Tensor> inputs = {};
    std::vector<std::optional<Tensor>> initial = {};        // by input, for feedback inputs
    std::array<std::vector<Tensor>, 2> outputs = {};        // outputs of even and odd runs
    std::array<std::unique_ptr<Binding>, 2> bindings = {};  // destroyed before the engine
    std::uint64_t runs = 0;
    std::vector<Tensor> held = {};              // with a schedule: outputs before the first run
    std::vector<Tensor> seen = {};              // inputs of on_change at the last run
    std::vector<Tensor> given = {};             // inputs of a carry in the first run of a tick
    std::map<std::size_t, Tensor> by_run = {};  // inputs of set_runs()
    std::int64_t last_run = kNeverRan;          // with a schedule: a tick

    Binding& next_binding() const noexcept { return *bindings[runs % 2]; }
  };

  const Tensor& latest(PortIndex output) const;
  void write_count(PortIndex input, std::int64_t count) noexcept;

  Wiring wiring_;
  std::vector<Node> nodes_;  // as in the bundle
  std::int64_t tick_ = -1;
};

}  // namespace leapp
