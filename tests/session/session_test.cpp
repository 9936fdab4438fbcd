// The life cycle of a session, and of its passes.
#include "session/session.h"

#include <stdexcept>
#include <thread>

#include "leapp/log.h"
#include "session/front_end.h"
#include "tracing.h"

namespace leapp {
namespace {

using at::Tensor;
using session::Session;
using testing::code_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using SessionTest = testing::Tracing;

TEST_F(SessionTest, StartsInTheFolderOfItsName) {
  const std::string root = folder_.string();
  const struct {
    StartOptions options;
    std::filesystem::path folder;
  } table[] = {
      {{.name = "g", .save_path = root}, folder_ / "g"},
      {{.name = "robots/g", .save_path = root}, folder_ / "robots" / "g"},
      {{.name = "g/", .save_path = root}, folder_ / "g"},
      {{.name = root + "/g", .save_path = "elsewhere"}, folder_ / "g"},
  };
  for (const auto& line : table) {
    start(line.options);
    EXPECT_EQ(Session::instance().graph_name(), "g") << line.options.name;
    EXPECT_EQ(Session::instance().folder(), line.folder) << line.options.name;
    EXPECT_TRUE(std::filesystem::is_directory(line.folder)) << line.options.name;
    stop();
  }
}

TEST_F(SessionTest, ALogSinkThatThrowsEndsNothing) {
  int lines = 0;
  const LogSink former = set_log_sink([&](LogLevel, std::string_view) {
    ++lines;
    throw std::runtime_error("the log is full");
  });
  begin();
  pass();
  stop();
  set_log_sink(former);
  EXPECT_GT(lines, 1);
  EXPECT_EQ(Session::instance().nodes().size(), 1U);
}

TEST_F(SessionTest, RefusesToStartWithoutANameOrAFolder) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "file") << "in the way";
  const std::string root = folder_.string();
  const std::pair<StartOptions, Code> table[] = {
      {{.name = "", .save_path = root}, Code::kBadName},
      {{.name = "..", .save_path = root}, Code::kBadName},
      {{.name = "g", .save_path = root, .max_cached_io = -1}, Code::kWrongValue},
      {{.name = "g", .save_path = root + "/file"}, Code::kIo},
  };
  for (const auto& [options, code] : table) {
    EXPECT_EQ(code_of([&, &given = options] { start(given); }), code) << options.name;
    EXPECT_FALSE(is_active());
  }
}

TEST_F(SessionTest, AnotherStartDropsWhatWasTraced) {
  begin();
  pass();
  begin();
  EXPECT_THAT(Session::instance().nodes(), IsEmpty());
  EXPECT_THAT(codes(), ElementsAre(Code::kSessionDropped));
}

TEST_F(SessionTest, StopsOnceAndKeepsWhatWasTraced) {
  EXPECT_EQ(code_of([] { stop(); }), Code::kNoSession);
  begin();
  EXPECT_TRUE(is_active());
  Tensor sum = at::zeros({2});
  sum.add_(in("n", at::ones({2})));
  out("n", sum * 2);
  stop();
  EXPECT_FALSE(is_active());
  EXPECT_EQ(code_of([] { stop(); }), Code::kNoSession);
  sum.zero_();  // writes are no longer reported
  EXPECT_TRUE(at::equal(first_pass().memory.at(0).value_after(), at::ones({2})));
}

TEST_F(SessionTest, ANodeBelongsToOneThread) {
  begin();
  in("n", at::ones({2}));
  std::optional<Code> closing;
  std::optional<Code> entering;
  std::thread([&] {
    closing = code_of([] { out("n", at::ones({2})); });
    entering = code_of([] { in("n", at::ones({2}), "z"); });
  }).join();
  EXPECT_EQ(closing, Code::kWrongThread);
  EXPECT_EQ(entering, Code::kWrongThread);
}

TEST_F(SessionTest, AnAbandonedPassCountsForNothing) {
  begin();
  in("n", at::ones({3}));
  annotate::abandon("n");
  annotate::abandon("nobody");
  EXPECT_FALSE(front_end::any_open());
  EXPECT_THAT(node().inputs, IsEmpty());
  pass();  // with another shape
  in("n", at::ones({2}));
  annotate::abandon("n");
  EXPECT_EQ(node().completed, 1);
  EXPECT_EQ(node().inputs.size(), 1U);
}

TEST_F(SessionTest, RefusesToStopBeforeANodeWasCompleted) {
  begin();
  pass("a");
  in("a", at::ones({2}));
  in("b", at::ones({2}));
  EXPECT_EQ(code_of([] { stop(); }), Code::kIncomplete);
  EXPECT_TRUE(is_active());
  EXPECT_TRUE(front_end::any_open());
}

TEST_F(SessionTest, AFurtherPassThatStopCutsOffCountsForNothing) {
  begin();
  pass();
  in("n", at::ones({2}));
  stop();
  EXPECT_FALSE(is_active());
  EXPECT_EQ(node().completed, 1);
  EXPECT_THAT(codes(), IsEmpty());
}

TEST_F(SessionTest, ALineThatIsReachedAgainBeginsThePassAnew) {
  begin();
  for (const bool fails : {true, false, true, false}) {
    const Tensor x = annotate::input_tensors("n", {{"x", at::ones({2})}})[0];
    annotate::state_tensors("n", {{"h", at::zeros({2})}});
    if (!fails) out("n", x * 2);
  }
  EXPECT_EQ(node().completed, 2);
  EXPECT_EQ(node().inputs.size(), 1U);
  EXPECT_EQ(node().states.size(), 1U);
  EXPECT_THAT(codes(), ElementsAre(Code::kIncomplete, Code::kIncomplete));
  annotate::input_tensors("n", {{"x", at::ones({2})}});
  EXPECT_EQ(code_of([] {
              annotate::input_tensors("n", {{"x", at::ones({2})}});
            }),
            Code::kDuplicateName);
}

TEST_F(SessionTest, AGraphsNameIsOneAReaderTakes) {
  for (const std::string& name : {std::string(201, 'n'), std::string("a\nb")}) {
    EXPECT_EQ(code_of([&] { start({.name = name, .save_path = folder_.string()}); }),
              Code::kBadName);
  }
}

TEST_F(SessionTest, ADroppedSessionLeavesNothing) {
  drop();  // no session is active
  begin();
  pass();
  in("open", at::ones({2}));
  drop();
  EXPECT_FALSE(is_active());
  EXPECT_THAT(Session::instance().nodes(), IsEmpty());
  EXPECT_FALSE(Session::instance().started_once());
  EXPECT_EQ(code_of([] { stop(); }), Code::kNoSession);
  begin();
  pass();
  stop();
  drop();  // the results of a session stay after it has ended
  EXPECT_EQ(node().completed, 1);
}

TEST_F(SessionTest, AScopeEndsItsSession) {
  const StartOptions options = {.name = "g", .save_path = folder_.string()};
  {
    Trace trace(options);
    EXPECT_TRUE(is_active());
    pass();
    trace.stop();
  }
  EXPECT_EQ(node().completed, 1);
  EXPECT_THROW(
      {
        const Trace trace(options);
        in("n", at::ones({2}));
        throw std::out_of_range("of the program");
      },
      std::out_of_range);
  EXPECT_FALSE(is_active());
  EXPECT_THAT(Session::instance().nodes(), IsEmpty());
  EXPECT_EQ(code_of([&] {
              Trace trace(options);
              in("n", at::ones({2}));
              trace.stop();
            }),
            Code::kIncomplete);
  EXPECT_FALSE(is_active());
}

TEST_F(SessionTest, OutputsOfANodeThatWasNeverOpenedAreRefused) {
  begin();
  EXPECT_EQ(code_of([] { out("n", at::ones({2})); }), Code::kNodeNotOpen);
  pass();
  EXPECT_EQ(code_of([] { out("n", at::ones({2})); }), Code::kNodeNotOpen);
}

}  // namespace
}  // namespace leapp
