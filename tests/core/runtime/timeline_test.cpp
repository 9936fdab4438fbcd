// The timeline of ticks, read back as Perfetto's protobuf.
#include "runtime/timeline.h"

#include <gmock/gmock.h>

#include <atomic>
#include <fstream>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <sstream>
#include <thread>

#include "leapp/error.h"
#include "leapp/log.h"
#include "support/file_size_limit.h"

namespace leapp {
namespace {

struct Event {
  int type = 0;
  std::uint64_t time = 0;
  std::uint64_t track = 0;
  std::string name;
  std::int64_t value = 0;
};

struct Trace {
  std::vector<Event> events;
  std::map<std::uint64_t, std::string> tracks;

  std::size_t count(int type, const std::string& name) const {
    std::size_t found = 0;
    for (const Event& event : events) found += event.type == type && event.name == name ? 1 : 0;
    return found;
  }
};

constexpr int kBegin = 1, kEnd = 2, kMark = 3, kCounted = 4;

Event read_event(protozero::pbf_reader in, const std::map<std::uint64_t, std::string>& names) {
  Event event;
  while (in.next()) {
    switch (in.tag()) {
      case 9:
        event.type = in.get_enum();
        break;
      case 10:
        event.name = names.at(in.get_uint64());
        break;
      case 11:
        event.track = in.get_uint64();
        break;
      case 30:
        event.value = in.get_int64();
        break;
      default:
        in.skip();
    }
  }
  return event;
}

// Returns the number and the text of a message that has both, under these tags.
std::pair<std::uint64_t, std::string> read_named(protozero::pbf_reader in) {
  std::pair<std::uint64_t, std::string> found;
  while (in.next()) {
    if (in.tag() == 1) {
      found.first = in.get_uint64();
    } else if (in.tag() == 2) {
      found.second = in.get_string();
    } else {
      in.skip();
    }
  }
  return found;
}

Trace read_trace(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  const std::string bytes = text.str();
  std::map<std::uint64_t, std::string> names;
  Trace trace;
  protozero::pbf_reader packets(bytes);
  while (packets.next(1)) {
    protozero::pbf_reader packet = packets.get_message();
    std::uint64_t time = 0;
    while (packet.next()) {
      if (packet.tag() == 8) {
        time = packet.get_uint64();
      } else if (packet.tag() == 11) {
        trace.events.push_back(read_event(packet.get_message(), names));
        trace.events.back().time = time;
      } else if (packet.tag() == 12) {
        protozero::pbf_reader interned = packet.get_message();
        while (interned.next(2)) names.insert(read_named(interned.get_message()));
      } else if (packet.tag() == 60) {
        trace.tracks.insert(read_named(packet.get_message()));
      } else {
        packet.skip();
      }
    }
  }
  return trace;
}

class TimelineTest : public ::testing::Test {
 protected:
  std::filesystem::path file_ = std::filesystem::path(::testing::TempDir()) / "timeline.pftrace";
  using Clock = Timeline::Clock;
  static Clock::time_point at(int microseconds) {
    return Clock::time_point(std::chrono::microseconds(microseconds));
  }
};

TEST_F(TimelineTest, HasASliceForEveryTickAndStep) {
  {
    Timeline timeline(file_, "walker", {"observe", "policy"});
    timeline.steps_begin(at(12));
    timeline.step_ended(at(20));
    timeline.step_ended(at(35));
    timeline.tick_ended(at(10), at(40), Timeline::Outcome::kDone);
  }
  const Trace trace = read_trace(file_);
  std::vector<std::pair<int, std::uint64_t>> slices;
  for (const Event& event : trace.events) {
    if (event.type == kBegin || event.type == kEnd) slices.push_back({event.type, event.time});
  }
  const std::vector<std::pair<int, std::uint64_t>> expected = {{kBegin, 10'000}, {kBegin, 12'000},
                                                               {kEnd, 20'000},   {kBegin, 20'000},
                                                               {kEnd, 35'000},   {kEnd, 40'000}};
  EXPECT_EQ(slices, expected);
  EXPECT_EQ(trace.count(kBegin, "tick"), 1u);
  EXPECT_EQ(trace.count(kBegin, "observe"), 1u);
  EXPECT_EQ(trace.count(kBegin, "policy"), 1u);
}

TEST_F(TimelineTest, AFullDiskIsSaidAtTheStart) {
  try {
    Timeline timeline("/dev/full", "walker", {"policy"});
    FAIL() << "a timeline was begun";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kTimeline);
    EXPECT_THAT(error.text(), ::testing::HasSubstr("No space left on device"));
  }
}

TEST_F(TimelineTest, ADiskThatFillsUpIsLoggedCountedAndReturned) {
  std::string log;
  std::atomic<bool> is_reported = false;  // a full ring also drops ticks, without a report
  const LogSink former = set_log_sink(
      [&](LogLevel, std::string_view line) {
        log += line;
        is_reported = true;
      },
      LogLevel::kError);
  Timeline timeline(file_, "walker", {"policy"});
  {
    const test::FileSizeLimit full(16 << 10);
    while (!is_reported) {
      for (int i = 0; i < 100; ++i) {
        timeline.tick_ended(at(i), at(i + 1), Timeline::Outcome::kDone);
      }
      std::this_thread::yield();
    }
  }
  const std::uint64_t dropped = timeline.dropped();
  timeline.tick_ended(at(0), at(1), Timeline::Outcome::kDone);
  EXPECT_GT(timeline.dropped(), dropped);
  const Result<void> finished = timeline.finish();
  set_log_sink(former);
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.failure().code(), Code::kTimeline);
  EXPECT_THAT(log, ::testing::HasSubstr("the timeline stopped early: File too large"));
  EXPECT_NO_THROW(read_trace(file_));  // only complete records
}

TEST_F(TimelineTest, CountsWhatTicksTookAndMissed) {
  {
    Timeline timeline(file_, "walker", {"policy"});
    timeline.tick_ended(at(0), at(7), Timeline::Outcome::kMissed);
    timeline.tick_ended(at(10), at(19), Timeline::Outcome::kFailed);
  }
  const Trace trace = read_trace(file_);
  EXPECT_EQ(trace.count(kMark, "deadline missed"), 1u);
  EXPECT_EQ(trace.count(kMark, "tick failed"), 1u);
  std::map<std::string, std::vector<std::int64_t>> counters;
  std::map<std::string, std::vector<std::uint64_t>> times;
  for (const Event& event : trace.events) {
    if (event.type != kCounted) continue;
    counters[trace.tracks.at(event.track)].push_back(event.value);
    times[trace.tracks.at(event.track)].push_back(event.time);
  }
  EXPECT_EQ(counters["tick took"], (std::vector<std::int64_t>{7'000, 9'000}));
  EXPECT_EQ(times["tick took"], (std::vector<std::uint64_t>{0, 10'000}));  // start times
  EXPECT_EQ(counters["deadlines missed"], (std::vector<std::int64_t>{1}));
}

TEST_F(TimelineTest, WhatTheRingHasNoRoomForIsCounted) {
  const std::size_t steps = 1 << 12;
  int ticks = 200;
  {
    Timeline timeline(file_, "walker", std::vector<std::string>(steps, "s"));
    for (int tick = 0; tick < ticks; ++tick) {  // more ticks than the ring holds
      timeline.steps_begin(at(tick));
      for (std::size_t i = 0; i < steps; ++i) timeline.step_ended(at(tick));
      timeline.tick_ended(at(tick), at(tick), Timeline::Outcome::kDone);
    }
    // The first tick for which there is room again states how many were dropped.
    for (std::uint64_t dropped = 0; dropped != timeline.dropped(); ++ticks) {
      dropped = timeline.dropped();
      timeline.tick_ended(at(ticks), at(ticks + 1), Timeline::Outcome::kDone);
      std::this_thread::yield();
    }
  }
  const Trace trace = read_trace(file_);
  std::int64_t left_out = 0;
  for (const Event& event : trace.events) {
    if (event.type == kCounted && trace.tracks.at(event.track) == "ticks left out of this file") {
      left_out = event.value;
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(trace.count(kBegin, "tick")) + left_out, ticks);
}

TEST_F(TimelineTest, AFileThatCannotBeIsAnError) {
  try {
    Timeline("/nowhere/at/all.pftrace", "walker", {});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kTimeline);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("all.pftrace"));
  }
}

}  // namespace
}  // namespace leapp
