#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace leapp {
namespace {

TEST(Log, LinesGoToTheSinkThatIsSet) {
  std::vector<std::string> lines;
  LogSink former = set_log_sink([&](LogLevel level, std::string_view line) {
    lines.push_back(std::string(name_of(level)) + ": " + std::string(line));
  });
  log(LogLevel::kWarning, "hot");
  set_log_sink(std::move(former));
  log(LogLevel::kError, "unheard");
  EXPECT_THAT(lines, testing::ElementsAre("WARNING: hot"));
}

TEST(Log, AWarningEndsWithItsCode) {
  std::vector<std::string> lines;
  LogSink former = set_log_sink([&](LogLevel level, std::string_view line) {
    lines.push_back(std::string(name_of(level)) + ": " + std::string(line));
  });
  warn(Code::kNoInitialValues, "all zeros");
  log(LogLevel::kError, Code::kValidationFailed, "far off");
  warn(rule(10), "w.yaml: [B10] names");
  set_log_sink(std::move(former));
  EXPECT_THAT(lines, testing::ElementsAre("WARNING: all zeros [LP621]", "ERROR: far off [LP409]",
                                          "WARNING: w.yaml: [B10] names"));
}

TEST(Log, LinesBelowTheLeastLevelAreNotHandedOver) {
  std::vector<std::string> lines;
  LogSink former = set_log_sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); },
                                LogLevel::kWarning);
  log(LogLevel::kInfo, "mild");
  log(LogLevel::kWarning, "hot");
  set_log_sink(std::move(former));
  EXPECT_THAT(lines, testing::ElementsAre("hot"));
}

TEST(Log, ASinkMayLogItself) {
  int depth = 0;
  LogSink former = set_log_sink([&](LogLevel, std::string_view) {
    if (++depth < 3) log(LogLevel::kDebug, "again");
  });
  log(LogLevel::kDebug, "once");
  set_log_sink(std::move(former));
  EXPECT_EQ(depth, 3);
}

TEST(Log, ThreadsMayLogWhileTheSinkChanges) {
  std::atomic<int> lines = 0;
  LogSink former = set_log_sink([&](LogLevel, std::string_view) { ++lines; });
  std::thread other([] {
    for (int i = 0; i < 1000; ++i) log(LogLevel::kInfo, "tick");
  });
  for (int i = 0; i < 100; ++i) set_log_sink([&](LogLevel, std::string_view) { ++lines; });
  other.join();
  set_log_sink(std::move(former));
  EXPECT_EQ(lines, 1000);
}

}  // namespace
}  // namespace leapp
