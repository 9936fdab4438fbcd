// Records every signal and port of a controller to an MCAP file, without disturbing its tick.
//
// The thread of update() copies values to a ring buffer; the recorder's thread converts them to
// JSON and writes them. Values that do not fit into the ring buffer are dropped and counted. After
// a write failure, for example on a full disk, all values are counted as dropped; the log has the
// reason.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/word_ring.h"
#include "controller/intervention_log.h"
#include "controller/mcap_writer.h"
#include "controller/tick_state.h"
#include "leapp/controller.h"
#include "leapp/supervisor.h"

namespace leapp {

/// A policy whose ports are recorded.
struct RecordedPolicy {
  std::string name;  ///< empty for the policy of a Controller
  const Bundle& bundle;
  const RobotBinding& binding;
};

/// Topics: /sensors/NAME and /actuators/NAME in every tick of the loop, /ports/NODE/PORT when the
/// policy ran, /controller for events. A message is {"tick": 12, "values": {"hip": 0.1}}, with a
/// list if elements have no names. With a supervisor, ports are /policies/NAME/ports/NODE/PORT, and
/// events name the policy.
class Recorder {
 public:
  /// Throws Error (LP655). `noise_seed` is that of all policies, for replay().
  Recorder(const std::filesystem::path& file, const Robot& robot,
           std::span<const RecordedPolicy> policies, std::uint64_t noise_seed);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // For the thread of update(): except started(), no function allocates, waits or makes a system
  // call.
  void started(std::chrono::nanoseconds now);
  void signals(std::uint64_t tick, std::chrono::nanoseconds now,
               std::span<const SensorValues> sensors,
               std::span<const std::vector<double>> actuators) noexcept;
  void input(std::size_t policy, std::size_t index, std::uint64_t tick,
             std::chrono::nanoseconds now, const TensorView& view) noexcept {
    put(policies_[policy].inputs + index, tick, now, view);
  }
  void output(std::size_t policy, std::size_t index, std::uint64_t tick,
              std::chrono::nanoseconds now, const TensorView& view) noexcept {
    put(policies_[policy].outputs + index, tick, now, view);
  }
  /// Records the interventions of a policy from number `first` on.
  void interventions(std::size_t policy, std::chrono::nanoseconds now, const InterventionLog& log,
                     std::uint64_t first) noexcept;
  void switched(std::chrono::nanoseconds now, const SwitchRecord& record) noexcept;

  /// Returns the number of messages that are not in the file and never will be.
  std::uint64_t dropped() const noexcept;

 private:
  struct Channel {
    std::uint16_t id = 0;
    bool single = false;              // float32: fewer digits are enough
    std::vector<std::string> quoted;  // names of the elements, as JSON; empty for a list
  };

  std::size_t add(const std::string& topic, const std::vector<std::string>& elements,
                  const McapWriter::Names& metadata, bool single);
  std::size_t add_ports(const RecordedPolicy& policy, bool inputs);
  bool begin(std::size_t channel, std::uint64_t tick, std::chrono::nanoseconds now,
             std::size_t count) noexcept;
  void end() noexcept;
  void put_event(std::uint64_t tick, std::chrono::nanoseconds now,
                 const std::array<std::uint64_t, 4>& words) noexcept;
  void put(std::size_t channel, std::uint64_t tick, std::chrono::nanoseconds now,
           std::span<const double> values) noexcept;
  void put(std::size_t channel, std::uint64_t tick, std::chrono::nanoseconds now,
           const TensorView& view) noexcept;
  void work() noexcept;
  void write_all();
  void give_up(const std::string& why) noexcept;
  void write_event(std::uint64_t time);

  /// Positions of a policy's ports among the channels, and their names for events.
  struct PolicyChannels {
    std::string name;
    std::size_t inputs = 0, outputs = 0;
    std::vector<std::string> ports;  // inputs and outputs
  };

  McapWriter writer_;
  WordRing ring_;
  std::vector<Channel> channels_;
  std::size_t events_ = 0, sensors_ = 0, actuators_ = 0;
  std::vector<PolicyChannels> policies_;
  std::atomic<std::int64_t> origin_{0};  // from the controller's clock to the time since 1970
  std::string file_;
  std::atomic<std::uint64_t> refused_{0};   // the ring buffer was full, or the recording has ended
  std::atomic<std::uint64_t> accepted_{0};  // by the ring
  std::atomic<std::uint64_t> written_{0};   // failures; final once failed_ is set
  std::atomic<bool> failed_{false};
  std::atomic<bool> end_{false};
  std::string json_;
  std::thread worker_;  // last member: it uses the others
};

}  // namespace leapp
