#include "runtime/timeline.h"

#include <unistd.h>

#include <protozero/pbf_writer.hpp>

#include "base/log.h"
#include "base/start_thread.h"
#include "leapp/error.h"

namespace leapp {
namespace {

constexpr std::size_t kTimelineWords = std::size_t{1} << 19;  // 4 MiB
constexpr std::size_t kHeadWords = 3;

// Field numbers of Perfetto's trace.proto and its imports.
namespace track_field {
using Tag = protozero::pbf_tag_type;
constexpr Tag kPacket = 1;
constexpr Tag kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12, kFlags = 13,
              kTrackDescriptor = 60;
constexpr Tag kUuid = 1, kTrackName = 2, kProcess = 3, kParent = 5, kCounter = 8;
constexpr Tag kPid = 1, kProcessName = 6;
constexpr Tag kUnit = 3;
constexpr Tag kEventNames = 2, kIid = 1, kName = 2;
constexpr Tag kEventType = 9, kNameIid = 10, kTrackUuid = 11, kCounterValue = 30;
}  // namespace track_field

enum EventType : std::int32_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounterEvent = 4 };
enum CounterUnit : std::int32_t { kTimeNs = 1, kCount = 2 };
constexpr std::uint32_t kStateCleared = 1, kNeedsState = 2;
constexpr std::uint32_t kSequenceId = 1;

// Tracks of the file.
enum TrackId : std::uint64_t { kProcessTrack = 1, kTickTrack, kTookTrack, kMissTrack, kDropTrack };
// Names of events; the names of the steps follow.
enum NameId : std::uint64_t { kTickName = 1, kMissName, kFailName, kFirstStep };

class Packet {
 public:
  explicit Packet(std::string& bytes) : trace_(bytes), packet_(trace_, track_field::kPacket) {
    packet_.add_uint32(track_field::kSequence, kSequenceId);
  }
  protozero::pbf_writer& writer() { return packet_; }

 private:
  protozero::pbf_writer trace_;
  protozero::pbf_writer packet_;
};

void add_event(std::string& bytes, std::uint64_t time, EventType type, std::uint64_t track,
               std::uint64_t name) {
  Packet packet(bytes);
  packet.writer().add_uint64(track_field::kTimestamp, time);
  packet.writer().add_uint32(track_field::kFlags, kNeedsState);
  protozero::pbf_writer event(packet.writer(), track_field::kTrackEvent);
  event.add_enum(track_field::kEventType, type);
  event.add_uint64(track_field::kTrackUuid, track);
  if (type != kSliceEnd) event.add_uint64(track_field::kNameIid, name);
}

void add_counter(std::string& bytes, std::uint64_t time, std::uint64_t track, std::uint64_t value) {
  Packet packet(bytes);
  packet.writer().add_uint64(track_field::kTimestamp, time);
  protozero::pbf_writer event(packet.writer(), track_field::kTrackEvent);
  event.add_enum(track_field::kEventType, kCounterEvent);
  event.add_uint64(track_field::kTrackUuid, track);
  event.add_int64(track_field::kCounterValue, static_cast<std::int64_t>(value));
}

void add_counter_track(std::string& bytes, std::uint64_t track, const char* name,
                       CounterUnit unit) {
  Packet packet(bytes);
  protozero::pbf_writer descriptor(packet.writer(), track_field::kTrackDescriptor);
  descriptor.add_uint64(track_field::kUuid, track);
  descriptor.add_uint64(track_field::kParent, kProcessTrack);
  descriptor.add_string(track_field::kTrackName, name);
  protozero::pbf_writer counter(descriptor, track_field::kCounter);
  counter.add_enum(track_field::kUnit, unit);
}

std::uint64_t nanoseconds(Timeline::Clock::time_point time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

}  // namespace

Timeline::Timeline(const std::filesystem::path& file, const std::string& title,
                   const std::vector<std::string>& steps)
    : file_(file),
      name_(file.string()),
      ring_(kTimelineWords),
      steps_(steps),
      times_(steps.size() + 1) {
  write_head(title);
  flush();
  if (const std::error_code error = file_.error()) {
    throw Error(Code::kTimeline, name_ + ": the timeline cannot be written: " + error.message() +
                                     "; its directory must exist, be writable and have space left");
  }
  worker_ = start_thread("write the timeline", [this] { work(); });
}

Timeline::~Timeline() {
  [[maybe_unused]] const Result<void> said_in_the_log = finish();
}

Result<void> Timeline::finish() noexcept {
  end_.store(true, std::memory_order_release);
  if (worker_.joinable()) worker_.join();
  if (!failed_.load(std::memory_order_acquire)) return {};
  return Failure(Code::kTimeline,
                 {name_, ": the timeline stopped early and lacks the last ticks; see the log"});
}

std::uint64_t Timeline::dropped() const noexcept {
  const std::uint64_t dropped = dropped_.load(std::memory_order_relaxed);
  if (!failed_.load(std::memory_order_acquire)) return dropped;
  return dropped + accepted_.load(std::memory_order_relaxed) -
         written_.load(std::memory_order_relaxed);
}

void Timeline::write_head(const std::string& title) {
  {
    Packet packet(bytes_);
    protozero::pbf_writer descriptor(packet.writer(), track_field::kTrackDescriptor);
    descriptor.add_uint64(track_field::kUuid, kProcessTrack);
    protozero::pbf_writer process(descriptor, track_field::kProcess);
    process.add_int32(track_field::kPid, ::getpid());
    process.add_string(track_field::kProcessName, title);
  }
  {
    Packet packet(bytes_);
    protozero::pbf_writer descriptor(packet.writer(), track_field::kTrackDescriptor);
    descriptor.add_uint64(track_field::kUuid, kTickTrack);
    descriptor.add_uint64(track_field::kParent, kProcessTrack);
    descriptor.add_string(track_field::kTrackName, "ticks");
  }
  add_counter_track(bytes_, kTookTrack, "tick took", kTimeNs);
  add_counter_track(bytes_, kMissTrack, "deadlines missed", kCount);
  add_counter_track(bytes_, kDropTrack, "ticks left out of this file", kCount);
  Packet packet(bytes_);  // each name is written once and then referenced by number
  packet.writer().add_uint32(track_field::kFlags, kStateCleared | kNeedsState);
  protozero::pbf_writer interned(packet.writer(), track_field::kInterned);
  const auto add_name = [&](std::uint64_t id, const std::string& name) {
    protozero::pbf_writer entry(interned, track_field::kEventNames);
    entry.add_uint64(track_field::kIid, id);
    entry.add_string(track_field::kName, name);
  };
  add_name(kTickName, "tick");
  add_name(kMissName, "deadline missed");
  add_name(kFailName, "tick failed");
  for (std::size_t i = 0; i < steps_.size(); ++i) add_name(kFirstStep + i, steps_[i]);
}

void Timeline::tick_ended(Clock::time_point start, Clock::time_point end,
                          Outcome outcome) noexcept {
  const std::size_t noted = noted_;
  noted_ = 0;
  if (failed_.load(std::memory_order_relaxed) || !ring_.begin(kHeadWords + noted)) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ring_.put(std::uint64_t{noted} << 8 | static_cast<std::uint64_t>(outcome));
  ring_.put(nanoseconds(start));
  ring_.put(nanoseconds(end));
  for (std::size_t i = 0; i < noted; ++i) ring_.put(nanoseconds(times_[i]));
  accepted_.fetch_add(1, std::memory_order_relaxed);
  ring_.end();
}

void Timeline::work() noexcept {
  constexpr auto kPause = std::chrono::milliseconds(5);
  try {
    while (!end_.load(std::memory_order_acquire) && !file_.error()) {
      write_all();
      std::this_thread::sleep_for(kPause);
    }
    write_all();
    file_.close();
    if (file_.error()) give_up(file_.error().message());
  } catch (const std::exception& error) {
    give_up(error.what());
  }
}

// The file keeps its content; everything after this is counted as dropped.
void Timeline::give_up(const std::string& why) noexcept {
  failed_.store(true, std::memory_order_release);
  try {
    log(LogLevel::kError, Code::kTimeline,
        name_ + ": the timeline stopped early: " + why +
            ". Later ticks are missing. Free space, or write to another disk");
  } catch (const std::exception&) {  // no memory for a message; finish() still reports the failure
  }
}

void Timeline::write_all() {
  for (std::size_t left = ring_.size(); left > 0;) {
    const std::uint64_t head = ring_.take();
    const auto noted = static_cast<std::size_t>(head >> 8);
    left -= kHeadWords + noted;
    write_tick(noted, static_cast<Outcome>(head & 0xFF));
    ++pending_;
    constexpr std::size_t kEnough = std::size_t{1} << 16;
    if (bytes_.size() > kEnough) flush();
  }
  flush();
}

// The times in the ring buffer: the start of the steps, then the end of each.
void Timeline::write_tick(std::size_t noted, Outcome outcome) {
  const std::uint64_t start = ring_.take();
  const std::uint64_t end = ring_.take();
  add_event(bytes_, start, kSliceBegin, kTickTrack, kTickName);
  std::uint64_t last = noted > 0 ? ring_.take() : 0;
  for (std::size_t i = 1; i < noted; ++i) {
    const std::uint64_t ended = ring_.take();
    if (ended == 0) continue;  // the step did not run
    add_event(bytes_, last, kSliceBegin, kTickTrack, kFirstStep + i - 1);
    add_event(bytes_, ended, kSliceEnd, kTickTrack, 0);
    last = ended;
  }
  if (outcome == Outcome::kFailed) add_event(bytes_, end, kInstant, kTickTrack, kFailName);
  if (outcome == Outcome::kMissed) {
    add_event(bytes_, end, kInstant, kTickTrack, kMissName);
    add_counter(bytes_, end, kMissTrack, ++misses_);
  }
  add_event(bytes_, end, kSliceEnd, kTickTrack, 0);
  add_counter(bytes_, start, kTookTrack, end - start);  // the start of its own tick in the drawing
  if (const std::uint64_t dropped = dropped_.load(std::memory_order_relaxed);
      dropped != dropped_written_) {
    add_counter(bytes_, end, kDropTrack, dropped_written_ = dropped);
  }
}

void Timeline::flush() {
  if (file_.append(bytes_)) written_.fetch_add(pending_, std::memory_order_relaxed);
  pending_ = 0;
  bytes_.clear();
}

}  // namespace leapp
