// What ticks take, as a file that Perfetto shows: track events in its protobuf format.
//
// The thread that ticks notes times and hands a tick's over through a ring; a thread of the
// timeline's writes them. When the ring is full, ticks are left out and counted.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/word_ring.h"

namespace leapp {

class Timeline {
 public:
  using Clock = std::chrono::steady_clock;

  /// Begins the file; `steps` are the names of what runs in a tick, in order. Throws Error (LP962).
  Timeline(const std::filesystem::path& file, const std::string& title,
           const std::vector<std::string>& steps);
  /// Writes what is left.
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // For the thread that ticks: nothing allocates, waits or calls the system.

  /// The steps begin at `start`, and each ends when this is called for it.
  void steps_begin(Clock::time_point start) noexcept {
    noted_ = 0;
    times_[noted_++] = start;
  }
  void step_ended(Clock::time_point end) noexcept {
    if (noted_ < times_.size()) times_[noted_++] = end;
  }
  /// The tick is over. A tick that failed has the steps that ran.
  enum class Outcome : std::uint8_t { kDone, kMissed, kFailed };
  void tick_ended(Clock::time_point start, Clock::time_point end, Outcome outcome) noexcept;

 private:
  void work();
  void write_all();
  void write_tick(std::size_t noted, Outcome outcome);
  void write_head(const std::string& title);
  void flush();

  std::ofstream file_;
  WordRing ring_;
  std::vector<std::string> steps_;
  std::vector<Clock::time_point> times_;  // when the steps of this tick began, and each ended
  std::size_t noted_ = 0;
  std::atomic<std::uint64_t> dropped_{0};
  std::uint64_t dropped_written_ = 0;
  std::uint64_t misses_ = 0;
  std::string bytes_;  // packets that are not in the file yet
  std::atomic<bool> end_{false};
  std::thread worker_;  // last: it uses the others
};

}  // namespace leapp
