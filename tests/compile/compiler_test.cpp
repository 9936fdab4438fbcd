// compile_graph(): its errors and warnings, their order, and its files.
#include "compile/compiler.h"

#include <map>
#include <utility>

#include "../core/runtime/support.h"
#include "../session/test_backend.h"
#include "../session/tracing.h"

namespace leapp {
namespace {

using at::Tensor;
using testing::code_of;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CompilerTest : public testing::Tracing {
 protected:
  static void SetUpTestSuite() { testing::find_libraries(); }

  std::vector<NodeOutcome> compile(CompileOptions options = {}) {
    options.visualize = false;
    return compile::compile_graph(options, &external_).outcomes;
  }
  bool is_written(const std::string& name) const {
    return std::filesystem::exists(folder_ / "g" / name);
  }
  // Returns the files of the bundle, without log and report.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "g")) {
      const std::string name = entry.path().filename().string();
      if (name == "log.txt" || name == "validation.json") continue;  // those of the last attempt
      std::ostringstream text;
      text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      found[entry.path().filename().string()] = text.str();
    }
    return found;
  }
  // y = 2 x on [1, 4], exported by an external backend whose file computes 2 x + 1.
  void trace_for_a_wrong_model() {
    external_.writes = [](const session::ExternalExport& node) {
      std::filesystem::copy_file(testing::model_file("affine.onnx"), node.file);
    };
    begin();
    annotate::output_tensors("n", {{"y", in("n", at::ones({1, 4})) * 2}},
                             {.export_with = "onnx-dynamo"});
    stop();
  }

  testing::TestBackend external_;
};

TEST(CompilerDeathTest, NothingWasEverTraced) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process without other threads
  const auto refused = [] { return code_of([] { compile_graph(); }) == Code::kNoSession; };
  EXPECT_EXIT(std::_Exit(refused() ? 0 : 1), ::testing::ExitedWithCode(0), "");
}

TEST_F(CompilerTest, ASessionMustEndAndItsNodesMustBeComplete) {
  begin();
  in("n", at::ones({2}));
  EXPECT_EQ(code_of([&] { compile(); }), Code::kStillTracing);
  end();
  EXPECT_EQ(code_of([&] { compile(); }), Code::kIncomplete);
  EXPECT_FALSE(is_written("g.yaml"));
}

TEST_F(CompilerTest, ALaterPassThatWasAbandonedCountsForNothing) {
  begin();
  pass();
  in("n", at::ones({2}));
  end();
  compile();
  EXPECT_THAT(codes(), IsEmpty());
  EXPECT_TRUE(is_written("g.yaml"));
}

TEST_F(CompilerTest, NamesThatNoNodeHasAndSessionsWithoutNodesAreNamed) {
  start({.name = "g", .save_path = folder_.string(), .non_traced = {"m"}});
  stop();
  EXPECT_THAT(compile(), IsEmpty());
  EXPECT_THAT(codes(), ::testing::UnorderedElementsAre(Code::kUnknownNode, Code::kNoNodes));
}

TEST_F(CompilerTest, ANodeWithoutAModelIsNamed) {
  begin();
  annotate::output_tensors("n", {{"y", in("n", at::ones({2})) * 2}});
  stop();
  compile();
  EXPECT_THAT(codes(), ElementsAre(Code::kNoModel));
  EXPECT_TRUE(is_written("g.yaml"));
}

TEST_F(CompilerTest, AnInputThatReachesNothingIsNamed) {
  for (const std::optional<std::string>& backend : {std::optional<std::string>("onnx"), {}}) {
    begin();
    const Tensor x = annotate::input_tensors("n", {{"x", at::ones({2})}, {"z", at::ones({2})}})[0];
    annotate::output_tensors("n", {{"y", x * 2}}, {.export_with = backend});
    stop();
    compile();
    EXPECT_THAT(codes(), Contains(Code::kUnusedInput).Times(1));
  }
}

TEST_F(CompilerTest, CompilingTwiceWritesTheSameBytes) {
  begin();
  Tensor h = at::zeros({2});
  for (int i = 0; i < 2; ++i) {
    const Tensor x = in("a", at::ones({2}));
    h.mul_(0.5).add_(x);
    const Tensor y = out("a", h * 2);
    const Tensor z = in("b", y) + 1;
    annotate::output_tensors("b", {{"y", z}}, {.export_with = "onnx"});
  }
  stop();
  compile();
  const auto first = files();
  EXPECT_THAT(first, Contains(::testing::Key("a.pt")));
  EXPECT_THAT(first, Contains(::testing::Key("b.onnx")));
  EXPECT_THAT(first, Contains(::testing::Key("g_initial_values.safetensors")));
  compile();
  EXPECT_EQ(files(), first);
}

TEST_F(CompilerTest, SaysHowFarItIs) {
  begin();
  pass("a");
  pass("b");
  stop();
  std::vector<std::string> steps;
  compile({.progress = [&](std::size_t done, std::size_t all, const std::string& node) {
    steps.push_back(node + " " + std::to_string(done) + "/" + std::to_string(all));
  }});
  EXPECT_THAT(steps, ElementsAre("a 0/4", "b 1/4", "a 2/4", "b 3/4"));
}

TEST_F(CompilerTest, SaysHowLongEachPhaseTook) {
  begin();
  pass();
  stop();
  compile({.dry_run = true});
  std::ostringstream log;
  log << std::ifstream(folder_ / "g" / "log.txt").rdbuf();
  EXPECT_THAT(log.str(), ::testing::ContainsRegex("Compiled in [0-9.]+ s: state [0-9.]+ s, graphs "
                                                  "[0-9.]+ s, models [0-9.]+ s, validation "
                                                  "[0-9.]+ s, drawing and writing [0-9.]+ s"));
}

TEST_F(CompilerTest, ADryRunWritesNoModelAndComparesNothing) {
  begin();
  pass();
  stop();
  const auto outcomes = compile({.dry_run = true});
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_TRUE(outcomes[0].passed);
  EXPECT_TRUE(is_written("g.yaml"));
  EXPECT_FALSE(is_written("n.pt"));
}

TEST_F(CompilerTest, AnExporterThatIsNotInstalledIsReplacedByOurs) {
  external_.missing = "onnxscript";
  begin();
  annotate::output_tensors("n", {{"y", in("n", at::ones({2})) * 2}},
                           {.export_with = "onnx-dynamo"});
  stop();
  compile();
  EXPECT_THAT(codes(), ElementsAre(Code::kFallback));
  EXPECT_TRUE(is_written("n.onnx"));
}

TEST_F(CompilerTest, AModelThatComputesSomethingElseIsNotWritten) {
  trace_for_a_wrong_model();
  EXPECT_EQ(code_of([&] { compile(); }), Code::kValidationFailed);
  EXPECT_FALSE(is_written("g.yaml"));
  EXPECT_FALSE(is_written("n.onnx"));
}

TEST_F(CompilerTest, UnlessSomebodyWantsToLookAtIt) {
  trace_for_a_wrong_model();
  const auto outcomes = compile({.strict = false});
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_FALSE(outcomes[0].passed);
  EXPECT_TRUE(is_written("n.onnx"));
  EXPECT_THAT(compile({.validate = false}), IsEmpty());
}

TEST_F(CompilerTest, AFrontEndNamesTheWeights) {
  const Tensor weight = at::full({2}, 3.0);
  struct Names : session::FrontEnd {
    session::TensorNames tensor_names() override { return names; }
    session::TensorNames names;
  };
  Names front_end;
  front_end.names = {{weight.const_data_ptr(), {"encoder.weight", ""}}};
  begin(&front_end);
  annotate::output_tensors("n", {{"y", in("n", at::ones({2})) * weight}}, {.export_with = "onnx"});
  stop();
  compile();
  EXPECT_NE(files().at("n.onnx").find("encoder.weight"), std::string::npos);
}

// Cancels at the first checkpoint, then at the second one, and so on.
TEST_F(CompilerTest, ACancelledExportLeavesTheFormerBundle) {
  begin();
  pass("a");
  stop();
  compile();
  const std::map<std::string, std::string> former = files();
  begin();
  pass("b");
  pass("b");
  stop();
  int checkpoints = 0;
  const auto cancel_at = [&](int number) {
    checkpoints = 0;
    return code_of([&] {
      compile(
          {.golden = 1, .cancelled = [&checkpoints, number] { return checkpoints++ == number; }});
    });
  };
  int number = 0;
  for (; cancel_at(number) == Code::kCancelled; ++number) {
    EXPECT_EQ(files(), former) << "checkpoint " << number;
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1) << number;
  }
  EXPECT_EQ(number, checkpoints);
  EXPECT_GT(number, 12);
  EXPECT_TRUE(is_written("b.pt"));
}

TEST_F(CompilerTest, CanBeCancelledBetweenTheTrialsOfAThoroughExport) {
  begin();
  pass();
  stop();
  int calls = 0;
  const auto count = [&] {
    ++calls;
    return false;
  };
  compile({.cancelled = count});
  const int few = std::exchange(calls, 0);
  compile({.thorough = true, .cancelled = count});
  EXPECT_GT(calls, few + 50);
}

TEST_F(CompilerTest, WhatTheCallbackThrowsPassesOn) {
  begin();
  pass();
  stop();
  EXPECT_THROW(compile({.cancelled = []() -> bool { throw std::out_of_range("mine"); }}),
               std::out_of_range);
  EXPECT_FALSE(is_written("g.yaml"));
}

TEST_F(CompilerTest, WritesWhereTheSessionBegan) {
  const std::filesystem::path former = std::filesystem::current_path();
  std::filesystem::create_directories(folder_ / "elsewhere");
  std::filesystem::current_path(folder_);
  start({.name = "g"});
  std::filesystem::current_path(folder_ / "elsewhere");
  pass();
  stop();
  compile();
  std::filesystem::current_path(former);
  EXPECT_TRUE(is_written("g.yaml"));
  EXPECT_TRUE(is_written("log.txt"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "elsewhere"));
}

TEST_F(CompilerTest, ReturnsTheReportThatItWrites) {
  begin();
  pass();
  stop();
  const compile::CompileReport report = compile::compile_graph({.visualize = false}, nullptr);
  ASSERT_EQ(report.outcomes.size(), 1U);
  std::ostringstream written;
  written << std::ifstream(folder_ / "g" / "validation.json").rdbuf();
  EXPECT_EQ(report.validation, written.str());
  EXPECT_THAT(report.validation, ::testing::HasSubstr("\"n\""));
  const CompileOptions quick{.visualize = false, .validate = false};
  EXPECT_EQ(compile::compile_graph(quick, nullptr).validation, "");
}

}  // namespace
}  // namespace leapp
