// Runs an exported pipeline: loads it, verifies it, plans the buffers, and runs ticks.
//
// The convenient interface takes and returns named tensors:
//
//   leapp::InferenceManager manager("walker/walker.yaml");
//   leapp::TensorMap out = manager.run_policy({{"policy/obs", obs}});
//   std::span<const float> action = out.at("policy/action").values<float>();
//
// The real-time interface looks up the names once and then only copies values:
//
//   const leapp::InputPort obs = manager.input_port("policy/obs");
//   const leapp::OutputPort action = manager.output_port("policy/action");
//   manager.prepare();
//   while (running) {
//     leapp::Result<void> done = manager.set_input(obs, sensors);  // a std::vector<float>
//     if (done) done = manager.tick();
//     if (!done) return stop(done.failure().message());
//     apply(manager.output(action).values<float>());
//   }
//
// The constructor reads the bundle, recomputes every checksum, checks the wires,
// plans one buffer per wire (a producer writes where its consumers read) and loads every model.
// Feedback uses two buffers that are swapped after each tick, so a failed tick keeps the state.
// prepare() lets the engines allocate lazily allocated memory; afterwards set_input(), touch(),
// tick() and output() neither allocate nor lock. ONNX Runtime and libtorch may do so inside a run:
// docs/explanation/benchmarks.md has the counts.
//
// A bundle may have a schedule (docs/reference/bundle.md): then a tick runs the nodes that are due,
// and an output keeps its value until its node runs again; output_age() tells. Ticks are counted
// from loading and from every reset.
//
// A bundle may have noise ports, inputs that the manager fills with random numbers before their
// node runs. The numbers depend only on the seed (RuntimeOptions::noise_seed), the port and the
// tick: the same seed gives the same bytes after every reset, on every machine, and again after an
// undone or failed tick. A noise port that is set, or bound to memory, keeps that value like other
// inputs, until clear_inputs(), reset() or a run_policy() without it; then the manager fills it
// again.
//
// Names: ports are "node/port". If an export renamed a state `h` to `h_in` and `h_out` (ONNX),
// every call also accepts the annotated name.
//
// Threads: distinct managers are independent. Only one thread at a time may use a manager. Each
// call marks it as in use by one atomic, without waiting; a call that overlaps another call fails
// (LP609) and changes nothing. run_policy() is one call, with inputs and outputs; set_input(),
// tick() and output() are three, and only the caller can keep other threads from calling in
// between. Views that a manager returns belong to it and may change with the next non-const call.
//
// Errors: calls for set-up throw leapp::Error. Calls of the loop return a Result, which the
// compiler does not let you ignore: a failed call changes nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/elements.h"
#include "leapp/engine.h"
#include "leapp/result.h"
#include "leapp/tensor.h"
#include "leapp/tensor_view.h"
#include "leapp/verification.h"
#include "leapp/visibility.h"

namespace leapp {

/// Tensors by "node/port".
using TensorMap = std::map<std::string, Tensor, std::less<>>;

/// Nodes that run as one graph.
enum class Merge : std::uint8_t {
  kAuto,  ///< those that the bundle states (B43); without a statement, if golden ticks prove it
  kOff,   ///< none
};

/// Values that must be finite. A tick that finds NaN or infinity fails and keeps the state. Costs
/// one pass over the values.
struct FiniteGuard {
  bool inputs = false;   ///< before the tick
  bool state = false;    ///< after it: the values for the next tick
  bool outputs = false;  ///< after it
};

/// A tick that took too long.
struct DeadlineMiss {
  std::uint64_t tick;  ///< number of ticks before it
  std::chrono::nanoseconds took;
  std::chrono::nanoseconds deadline;
};

struct RuntimeOptions {
  EngineOptions engine = {};                        ///< options of every node, except
  std::map<std::string, EngineOptions> nodes = {};  ///< options of these nodes, by name
  Merge merge = Merge::kAuto;
  FiniteGuard finite = {};
  /// Maximum age of an input "node/port" when a tick starts: the time since its last set_input() or
  /// touch(). Inputs not named here never become stale.
  std::map<std::string, std::chrono::nanoseconds> staleness = {};
  /// Maximum duration of a tick. A longer tick succeeds but is counted, and `on_deadline_miss` is
  /// called at its end, in the same thread. It must not throw or call the manager.
  std::optional<std::chrono::nanoseconds> deadline = {};
  std::function<void(const DeadlineMiss&)> on_deadline_miss = {};
  /// Seed of the noise ports.
  std::uint64_t noise_seed = 0;
  /// True if every tick and node keeps a latency histogram. Costs about 50 ns per node.
  bool measure = false;
  BundleOptions bundle = {};  ///< how far the bundle is trusted
  EngineRegistry engines = EngineRegistry::standard();
};

/// Latencies of a tick or a node. Percentiles are exact to 2 %.
struct LatencySummary {
  std::uint64_t count = 0;
  std::chrono::nanoseconds mean{0}, p50{0}, p99{0}, p999{0}, max{0};
};

struct Statistics {
  LatencySummary tick;
  /// One per step of the plan, in order. Merged nodes are one step: "pre+policy".
  std::vector<std::pair<std::string, LatencySummary>> nodes;
  std::uint64_t deadline_misses = 0;
};

/// Handles of ports: small, copyable, valid for the manager that returned them. A
/// default-constructed handle belongs to no port; using it is an error.
class InputPort {
 public:
  InputPort() noexcept = default;
  /// Returns the position in inputs(), or inputs().size() plus the position in noise_inputs().
  std::size_t index() const noexcept { return index_; }

 private:
  friend class InferenceManager;
  explicit InputPort(std::size_t index) noexcept : index_(index) {}
  std::size_t index_ = SIZE_MAX;
};
class OutputPort {
 public:
  OutputPort() noexcept = default;
  std::size_t index() const noexcept { return index_; }  ///< position in outputs()

 private:
  friend class InferenceManager;
  explicit OutputPort(std::size_t index) noexcept : index_(index) {}
  std::size_t index_ = SIZE_MAX;
};

/// A loaded bundle. A moved-from manager has no ports; every call fails with kUsage.
class LEAPP_EXPORT InferenceManager {
 public:
  /// Loads the bundle at `yaml`. Throws Error: kNotFound, kValue or kIo. A bundle with a node
  /// without a model can be inspected; only running it fails.
  explicit InferenceManager(const std::filesystem::path& yaml, RuntimeOptions options = {});
  ~InferenceManager();
  InferenceManager(InferenceManager&&) noexcept;
  InferenceManager& operator=(InferenceManager&&) noexcept;

  // --- Information ---------------------------------------------------------------------------

  const Bundle& bundle() const noexcept;
  /// Returns the inputs that the caller supplies, the outputs, and the inputs fed back from the
  /// last tick: "node/port" each.
  const std::vector<std::string>& inputs() const noexcept;
  const std::vector<std::string>& outputs() const noexcept;
  const std::vector<std::string>& feedback_inputs() const noexcept;
  /// Returns the inputs that the manager fills with random numbers unless the caller sets them.
  const std::vector<std::string>& noise_inputs() const noexcept;
  /// Returns one line of text per step: which model runs where.
  std::vector<std::string> description() const;

  // --- The convenient interface: throws leapp::Error
  // -----------------------------------------------

  /// Runs one tick. Requires every input of inputs(), except those that set_input_value() has set;
  /// noise ports may be given, too. The outputs belong to the caller.
  TensorMap run_policy(const TensorMap& inputs);

  /// Returns mock values for all inputs(): normally distributed numbers, ones for integers (they
  /// are often indices), random values for bool. The same seed gives the same values.
  TensorMap get_mock_input(std::uint32_t seed = 0) const;

  /// Sets an external input (for all ticks, until it is set again) or a feedback input (for the
  /// next tick). An input that another node computes in every tick cannot be set.
  void set_input_value(std::string_view node, std::string_view input, const ConstTensorView& value);

  /// Returns the value of any port: of an output, the result of the last tick; of an external
  /// input, the value that was set; of a feedback input, the value for the next tick. Inside merged
  /// nodes the value is computed again on request, from the inputs of the last tick; if set_input()
  /// has replaced them, this is an error. Bound input memory is read as it is now.
  Tensor value(std::string_view node, std::string_view port) const;

  /// Sets every feedback input to its initial value, and starts the schedule and the noise at tick
  /// 0. External inputs become zero and must be set before the next tick; bound memory is
  /// unchanged.
  void reset();

  /// Returns a copy of all feedback inputs, and restores one: state() before a tick and set_state()
  /// after it undo the tick. set_state() needs all feedback inputs. With a schedule, the state
  /// includes the position in it and the values that outputs keep, with noise ports the number of
  /// the next tick, under names that begin with '/'.
  TensorMap state() const;
  void set_state(const TensorMap& state);

  // --- The real-time interface -------------------------------------------------------------------

  /// Returns the handle of a port. Throws Error(kValue) with the existing names if there is no such
  /// port.
  InputPort input_port(std::string_view name) const;
  OutputPort output_port(std::string_view name) const;

  /// Reads an input from, or writes an output to, the caller's memory from now on. Nothing is
  /// copied, unless the output is also fed back, which takes one copy. The memory must have the
  /// port's type and size, be contiguous and aligned for its type (otherwise Error LP602, LP603,
  /// LP608), and live until another bind, unbind or the end of the manager. Not for real time.
  void bind_input(InputPort port, ConstElements memory);
  void bind_output(OutputPort port, Elements memory);
  template <ElementRange Range>
  requires(!std::ranges::borrowed_range<Range>) void bind_input(InputPort port, Range&& temporary) =
      delete;  // its elements would not outlive this call
  /// Switches back to the manager's own memory. An input must then be set again.
  void unbind_input(InputPort port);
  void unbind_output(OutputPort port);

  /// Runs `ticks` ticks of all nodes on mock input, then restores state and inputs. After that,
  /// engines have allocated the memory of their first run. Throws the error of a failed tick.
  void prepare(int ticks = 2);

  /// Replays the golden traces of the bundle on this machine: each node by itself, then the
  /// pipeline with feedback, in separate buffers, so inputs, state and statistics do not change.
  /// Loads every node a second time. Throws Error: LP942 if the bundle has no golden traces, and
  /// the errors of loading and ticks. The result states if the values agree.
  Verification verify() const;

  /// Returns the device of the values: "cpu", or "cuda:0" if every node runs on that device
  /// (EngineOptions::provider). Memory for bind_input() and bind_output() must then be on that
  /// device, input() and output() return memory of it, and prepare() records a whole tick as a CUDA
  /// graph if the nodes allow it. A tick is complete when tick() returns. Its work is ordered with
  /// the calling thread's libtorch stream.
  std::string device() const;

  /// Copies an external input's elements from the host. Fails if their type or number differs from
  /// the port, or if the port is bound.
  Result<void> set_input(InputPort port, ConstElements elements) noexcept;
  /// Copies an external input's elements from memory of device().
  Result<void> set_device_input(InputPort port, ConstElements elements) noexcept;
  /// Returns the memory of an external input, for callers that write it in place and then call
  /// touch(). An empty view if there is no such port.
  const TensorView& input(InputPort port) noexcept;
  /// Marks an input as fresh after its memory was written in place or through a binding.
  Result<void> touch(InputPort port) noexcept;
  /// Clears the external inputs, except those bound or set with set_input_value(): the next tick
  /// fails unless each is set again. Without this call, a tick reuses the values of the last one.
  Result<void> clear_inputs() noexcept;

  /// Runs every node once, or the nodes that are due by the bundle's schedule. A failed tick leaves
  /// the state unchanged.
  Result<void> tick() noexcept;
  /// Undoes the last tick: the next tick reads the same state again. Restores only the state, not
  /// the outputs. Does nothing if a state was set or a tick failed since then, or if the tick was
  /// already undone.
  Result<void> undo_tick() noexcept;
  /// Sets the feedback to its initial values, and the schedule and the noise to tick 0, as reset()
  /// does, and leaves the external inputs alone. For a loop: allocates nothing.
  Result<void> reset_state() noexcept;
  /// Sets the seed of the noise ports from the next tick on: for example, another one for each
  /// episode, because reset() repeats the noise. Does not change the tick.
  Result<void> set_noise_seed(std::uint64_t seed) noexcept;
  /// Returns whether all feedback values are finite, and all values that the last tick computed for
  /// later ticks of a schedule. Costs one pass over the values.
  bool is_state_finite() const noexcept;

  /// Returns the value of an output since the last tick; valid until the next one. An empty view if
  /// there is no such port.
  const TensorView& output(OutputPort port) const noexcept;
  /// Returns the age of an output in ticks: 0 if its node ran in the last tick, as every node does
  /// without a schedule. Empty if the node has not run since the reset; its outputs then have their
  /// initial values.
  std::optional<std::uint64_t> output_age(OutputPort port) const noexcept;
  /// Returns the elements. Fails if T is not their type, or if they are not in the host's memory.
  template <Element T>
  Result<std::span<const T>> output(OutputPort port) const noexcept {
    const Result<const void*> data = output_data(port, dtype_of<T>());
    if (!data) return data.failure();
    return std::span<const T>(static_cast<const T*>(*data), output(port).byte_size() / sizeof(T));
  }
  /// Copies an output to the host, or to memory of device(). Fails if the memory has a different
  /// type or size.
  Result<void> get_output(OutputPort port, Elements memory) const noexcept;
  Result<void> get_device_output(OutputPort port, Elements memory) const noexcept;

  // --- Measurements
  // --------------------------------------------------------------------------------

  /// Returns latencies; empty unless RuntimeOptions::measure.
  Statistics statistics() const;
  void reset_statistics();

  /// Writes a timeline of the ticks from now on, for Perfetto (ui.perfetto.dev): a slice for each
  /// tick and, within it, for each node; counters; an instant for each missed deadline. A tick
  /// stores one word per node in a ring buffer, without allocation, waiting or system call; a
  /// thread writes the file. If the ring buffer is full, entries are dropped and counted in the
  /// file. An empty path ends the timeline, as does destroying the manager. Throws Error (LP962) if
  /// the file cannot be written, or if the timeline that ends here could not be written whole; a
  /// full disk is in the log when it happens.
  void trace_to(const std::filesystem::path& file);

 private:
  class Impl;
  Impl& impl() const;  // throws Error(kUsage) after a move
  Result<const void*> output_data(OutputPort port, DType dtype) const noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leapp
