// The durations of ticks as a file for Perfetto: track events in its protobuf format.
//
// The thread that ticks passes the times of a tick through a ring buffer; the timeline's thread
// writes them. Ticks that do not fit into the ring buffer are dropped and counted in the file.
// After a write failure, for example on a full disk, the file keeps its content; the log and
// finish() report the failure.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/append_file.h"
#include "base/word_ring.h"
#include "leapp/result.h"

namespace leapp {

class Timeline {
 public:
  using Clock = std::chrono::steady_clock;

  /// Begins the file; `steps` are the names of the steps of a tick, in order. Throws Error (LP962).
  Timeline(const std::filesystem::path& file, const std::string& title,
           const std::vector<std::string>& steps);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // For the thread that ticks: no function allocates, waits or makes a system call.

  /// Starts the steps at `start`; each call marks the end of one step.
  void steps_begin(Clock::time_point start) noexcept {
    noted_ = 0;
    times_[noted_++] = start;
  }
  void step_ended(Clock::time_point end) noexcept {
    if (noted_ < times_.size()) times_[noted_++] = end;
  }
  /// Marks the next step as skipped in this tick.
  void step_skipped() noexcept { step_ended(Clock::time_point()); }
  /// Writes the rest and ends the thread. Returns a failed write: Failure LP962. Call it once;
  /// otherwise the destructor does.
  Result<void> finish() noexcept;
  /// Returns the number of ticks that are not in the file and never will be.
  std::uint64_t dropped() const noexcept;

  /// Ends the tick. A failed tick has the steps that ran.
  enum class Outcome : std::uint8_t { kDone, kMissed, kFailed };
  void tick_ended(Clock::time_point start, Clock::time_point end, Outcome outcome) noexcept;

 private:
  void work() noexcept;
  void give_up(const std::string& why) noexcept;
  void write_all();
  void write_tick(std::size_t noted, Outcome outcome);
  void write_head(const std::string& title);
  void flush();

  AppendFile file_;
  std::string name_;
  WordRing ring_;
  std::vector<std::string> steps_;
  std::vector<Clock::time_point> times_;  // the start of this tick's steps, and the end of each
  std::size_t noted_ = 0;
  std::atomic<std::uint64_t> dropped_{0};   // the ring buffer was full, or the file has ended
  std::atomic<std::uint64_t> accepted_{0};  // by the ring
  std::atomic<std::uint64_t> written_{0};   // failures; final once failed_ is set
  std::atomic<bool> failed_{false};
  std::uint64_t pending_ = 0;  // number of ticks in bytes_
  std::uint64_t dropped_written_ = 0;
  std::uint64_t misses_ = 0;
  std::string bytes_;  // packets that are not written to the file yet
  std::atomic<bool> end_{false};
  std::thread worker_;  // last member: it uses the others
};

}  // namespace leapp
