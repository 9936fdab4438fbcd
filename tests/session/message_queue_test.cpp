#include "session/message_queue.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "leapp/log.h"

namespace leapp::session {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(MessageQueueTest, KeepsAWarningOncePerPlaceAndText) {
  MessageQueue queue;
  const int here = 0;
  queue.warn(Code::kBranch, "n", "a branch", {&here, 1});
  queue.warn(Code::kBranch, "n", "a branch", {&here, 1});
  queue.warn(Code::kBranch, "n", "a branch", {&here, 2});
  queue.remark("twice");
  queue.remark("twice");
  EXPECT_EQ(queue.take().size(), 4U);
  EXPECT_THAT(queue.take(), IsEmpty());
  queue.warn(Code::kBranch, "n", "a branch", {&here, 1});  // also after it was removed
  EXPECT_THAT(queue.take(), IsEmpty());
}

TEST(MessageQueueTest, DeliversWarningsAsDiagnosticsAndRemarksToTheLog) {
  std::vector<LogLevel> levels;
  const LogSink former =
      set_log_sink([&](LogLevel level, std::string_view) { levels.push_back(level); });
  Diagnostics diagnostics;
  deliver({{.text = "remark"}, {.code = Code::kDataDependentSize, .node = "n", .text = "size"}},
          diagnostics);
  set_log_sink(former);
  const Diagnostic said{.code = Code::kDataDependentSize, .node = "n", .text = "size"};
  EXPECT_THAT(diagnostics.by_harm(), ElementsAre(said));
  EXPECT_THAT(levels, ::testing::Contains(LogLevel::kWarning));
}

TEST(MessageQueueTest, ALogSinkThatThrowsLosesItsOwnLinesOnly) {
  const LogSink former =
      set_log_sink([](LogLevel, std::string_view) { throw std::runtime_error("the log is full"); });
  Diagnostics diagnostics;
  deliver({{.code = Code::kDataDependentSize, .text = "one"},
           {.code = Code::kDataDependentSize, .text = "two"}},
          diagnostics);
  set_log_sink(former);
  EXPECT_EQ(diagnostics.by_harm().size(), 2U);
}

}  // namespace
}  // namespace leapp::session
