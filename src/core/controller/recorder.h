// Records every signal and port of a controller to an MCAP file, without disturbing its tick.
//
// The thread of update() copies values into a ring; a thread of the recorder's turns them into JSON
// and writes them. Values that find the ring full are dropped and counted. So are all values from
// the moment on that the file cannot be written, as on a full disk; the log says why.
#pragma once

#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/word_ring.h"
#include "controller/mcap_writer.h"
#include "leapp/controller.h"

namespace leapp {

/// Topics: /sensors/NAME and /actuators/NAME in every tick of the loop, /ports/NODE/PORT when the
/// policy ran, /controller for what happened. A message is {"tick": 12, "values": {"hip": 0.1}},
/// or with a list where elements have no names.
class Recorder {
 public:
  /// Throws Error (LP655).
  Recorder(const std::filesystem::path& file, const Robot& robot, const Bundle& bundle,
           const RobotBinding& binding);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // For the thread of update(): nothing allocates, waits or calls the system, started() aside.
  void started(std::chrono::nanoseconds now);
  void sensor(std::size_t index, std::uint64_t tick, std::chrono::nanoseconds now,
              std::span<const double> values) noexcept {
    put(sensors_ + index, tick, now, values);
  }
  void actuator(std::size_t index, std::uint64_t tick, std::chrono::nanoseconds now,
                std::span<const double> values) noexcept {
    put(actuators_ + index, tick, now, values);
  }
  void input(std::size_t index, std::uint64_t tick, std::chrono::nanoseconds now,
             const TensorView& view) noexcept {
    put(inputs_ + index, tick, now, view);
  }
  void output(std::size_t index, std::uint64_t tick, std::chrono::nanoseconds now,
              const TensorView& view) noexcept {
    put(outputs_ + index, tick, now, view);
  }
  void intervened(std::chrono::nanoseconds now, const Intervention& intervention) noexcept;

  /// How many messages are not in the file and will not be.
  std::uint64_t dropped() const noexcept;

 private:
  struct Channel {
    std::uint16_t id = 0;
    bool single = false;              // float32: fewer digits give the same value
    std::vector<std::string> quoted;  // names of the elements, as JSON; empty for a list
  };

  std::size_t add(const std::string& topic, const std::vector<std::string>& elements,
                  const McapWriter::Names& metadata, bool single);
  std::size_t add_ports(const std::vector<PortBinding>& ports, const Bundle& bundle, bool inputs);
  bool begin(std::size_t channel, std::uint64_t tick, std::chrono::nanoseconds now,
             std::size_t count) noexcept;
  void end() noexcept;
  void put(std::size_t channel, std::uint64_t tick, std::chrono::nanoseconds now,
           std::span<const double> values) noexcept;
  void put(std::size_t channel, std::uint64_t tick, std::chrono::nanoseconds now,
           const TensorView& view) noexcept;
  void work() noexcept;
  void write_all();
  void give_up(const std::string& why) noexcept;
  void write_event(std::uint64_t time, std::size_t count);

  McapWriter writer_;
  WordRing ring_;
  std::vector<Channel> channels_;
  std::size_t events_ = 0, sensors_ = 0, actuators_ = 0, inputs_ = 0, outputs_ = 0;
  std::vector<std::string> port_names_;  // of both sides, for events
  std::atomic<std::int64_t> origin_{0};  // from the controller's clock to 1970
  std::string file_;
  std::atomic<std::uint64_t> refused_{0};   // found the ring full, or the recording ended
  std::atomic<std::uint64_t> accepted_{0};  // by the ring
  std::atomic<std::uint64_t> written_{0};   // of these; final once failed_ is set
  std::atomic<bool> failed_{false};
  std::atomic<bool> end_{false};
  std::string json_;
  std::thread worker_;  // last: it uses the others
};

}  // namespace leapp
