#include "controller/recorder.h"

#include <sys/stat.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "controller/mcap_writer.h"
#include "leapp/log.h"
#include "leapp/tools/replay.h"
#include "replay/mcap_reader.h"
#include "support.h"
#include "support/file_size_limit.h"

namespace leapp {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using namespace std::chrono_literals;
using testing::add_legs;
using testing::message_of;
using testing::PolicyBench;

/// Runs the legs for some ticks and returns the recording.
std::filesystem::path record(PolicyBench& bench, int ticks) {
  const std::filesystem::path file = bench.folder() / "run.mcap";
  bench.options.recording = file;
  Controller controller = bench.make();
  controller.start();
  for (int i = 0; i < ticks; ++i) {
    controller.set_sensor(0, std::array{0.1 * i, 0.3}).value();
    controller.update();
    bench.now += 10ms;
  }
  EXPECT_EQ(controller.dropped(), 0U);
  return file;
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  McapReader(file).read([&](const McapChannel& channel, std::uint64_t, std::string_view data) {
    lines.push_back(channel.topic + " " + std::string(data));
  });
  return lines;
}

ReplayOptions replay_options(PolicyBench& bench) {
  return {.runtime = bench.controller_options().runtime};
}

TEST(Recorder, RecordsEverySignalAndPort) {
  PolicyBench bench;
  add_legs(bench, {.limits = Limits{{}, {0.3}, {}}});
  const std::vector<std::string> lines = lines_of(record(bench, 4));
  EXPECT_EQ(lines.size(), 4 * 2 + 2 * 2 + 4 + 1U);  // signals, ports, interventions, the start
  EXPECT_EQ(lines[0], R"(/controller {"tick":0,"event":"start"})");
  EXPECT_THAT(lines, Contains(R"(/sensors/q {"tick":1,"values":{"knee":0.1,"hip":0.3}})"));
  EXPECT_THAT(lines, Contains(R"(/actuators/target {"tick":2,"values":{"knee":0.3,"hip":0.3}})"));
  EXPECT_THAT(lines, Contains(R"(/ports/pi/q {"tick":2,"values":{"hip":0.3,"knee":0.2}})"));
  EXPECT_THAT(lines, Contains(R"(/ports/pi/action {"tick":2,"values":{"hip":0.6,"knee":0.4}})"));
  EXPECT_THAT(lines, Contains(R"(/controller {"tick":3,"event":"clamped","port":"pi/action"})"));
}

TEST(Recorder, AFileThatCannotBeMade) {
  PolicyBench bench;
  add_legs(bench);
  bench.options.recording = "/nowhere/run.mcap";
  EXPECT_THAT(message_of([&] { bench.make(); }),
              HasSubstr("the recording could not be written: No such file"));
}

TEST(Recorder, AFullDiskIsSaidAtTheStart) {
  PolicyBench bench;
  add_legs(bench);
  bench.options.recording = "/dev/full";
  EXPECT_THAT(message_of([&] { bench.make(); }), HasSubstr("No space left on device"));
}

// Ending the recorder waits for its thread; no test sleeps.
TEST(Recorder, ADiskThatFillsUpIsLoggedAndCounted) {
  PolicyBench bench;
  add_legs(bench);
  const std::filesystem::path file = bench.folder() / "run.mcap";
  bench.options.recording = file;
  std::string log;
  std::mutex mutex;
  std::atomic<bool> is_reported = false;  // a full ring buffer also drops values, without a report
  const LogSink former = set_log_sink(
      [&](LogLevel, std::string_view line) {
        const std::lock_guard lock(mutex);
        log += line;
        is_reported = true;
      },
      LogLevel::kError);
  std::uint64_t dropped = 0;
  {
    Controller controller = bench.make();
    controller.start();
    const test::FileSizeLimit full(64 << 10);
    // 1 MiB is a chunk; nothing is missing before the write fails.
    while (!is_reported) {
      for (int i = 0; i < 100; ++i) {
        controller.set_sensor(0, std::array{0.1 * i, 0.3}).value();
        controller.update();
        bench.now += 10ms;
      }
      std::this_thread::yield();
    }
    dropped = controller.dropped();
    controller.update();
    EXPECT_GE(controller.dropped(), dropped);
  }
  set_log_sink(former);
  EXPECT_THAT(log, HasSubstr("the recording stopped early: File too large"));
  EXPECT_THAT(log, HasSubstr("[LP655]"));
  EXPECT_GT(dropped, 100U);
  EXPECT_LT(lines_of(file).size(), 10U);  // a readable file with the complete records
}

TEST(McapReader, RefusesAPipeInsteadOfWaiting) {
  PolicyBench bench;
  const std::filesystem::path pipe = bench.folder() / "pipe.mcap";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(message_of([&] { McapReader reader(pipe); }), HasSubstr("not a regular file"));
  EXPECT_THAT(message_of([&] { McapReader reader("/dev/zero"); }), HasSubstr("not a regular file"));
}

TEST(McapReader, RefusesWhatIsNoRecordingAndReadsWhatIsCutOff) {
  PolicyBench bench;
  add_legs(bench);
  const std::filesystem::path file = record(bench, 4);
  const std::size_t whole = lines_of(file).size();
  const auto size = std::filesystem::file_size(file);
  for (std::uintmax_t cut = 1; cut < size; cut += 7) {
    std::filesystem::resize_file(file, size - cut);
    try {
      EXPECT_LE(lines_of(file).size(), whole);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kRecording) << error.what();
    }
  }
  std::ofstream(file) << "not a recording";
  EXPECT_THAT(message_of([&] { lines_of(file); }), HasSubstr("this is not an MCAP file [LP655]"));
  EXPECT_THAT(message_of([&] { lines_of("/nowhere"); }), HasSubstr("was not found"));
}

TEST(Replay, AgreesWithItself) {
  PolicyBench bench;
  add_legs(bench);
  const std::filesystem::path file = record(bench, 5);
  const ReplayReport report = replay(file, bench.write(), replay_options(bench));
  EXPECT_EQ(report.ticks, 3U);
  EXPECT_FALSE(report.difference);
}

TEST(Replay, NamesTheFirstPortAndTickThatDiffer) {
  PolicyBench bench;
  add_legs(bench);
  const std::filesystem::path file = record(bench, 5);
  const auto doubling = bench.policy;
  bench.policy = [doubling](auto in, auto out) {
    doubling(in, out);
    if (in[0][1] > 0.1F) out[0][1] += 0.25F;
    return true;
  };
  const ReplayReport report = replay(file, bench.write(), replay_options(bench));
  ASSERT_TRUE(report.difference);
  EXPECT_EQ(report.difference->tick, 2U);
  EXPECT_EQ(report.difference->port, "pi/action");
  EXPECT_EQ(report.difference->element, 1U);
  EXPECT_NEAR(report.difference->computed - report.difference->recorded, 0.25, 1e-6);
}

TEST(Replay, ARecordingOfAnotherBundle) {
  PolicyBench bench;
  add_legs(bench);
  const std::filesystem::path file = record(bench, 3);
  bench.inputs[0].name = "other";
  EXPECT_THAT(message_of([&] { replay(file, bench.write(), replay_options(bench)); }),
              HasSubstr("the bundle has no input pi/q"));
}

TEST(Replay, MessagesOfOtherWritersAreNoTicks) {
  PolicyBench bench;
  add_legs(bench);
  const std::filesystem::path file = bench.folder() / "other.mcap";
  McapWriter writer(file);
  const std::uint16_t events = writer.add_channel("/controller", "event", {});
  const std::uint16_t nameless = writer.add_channel("/camera", "image", {{"side", "input"}});
  writer.write(events, 1, R"({"event": 7})");
  writer.write(nameless, 2, R"({"tick": 0, "values": [1]})");
  ASSERT_TRUE(writer.close());
  EXPECT_THAT(message_of([&] { replay(file, bench.write(), replay_options(bench)); }),
              HasSubstr("it contains no tick of this bundle's ports"));
}

}  // namespace
}  // namespace leapp
