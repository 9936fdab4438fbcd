#include "runtime/golden_replay.h"

#include <gmock/gmock.h>

#include <array>

#include "bundle/golden_traces.h"
#include "leapp/c.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using ::testing::HasSubstr;
using namespace leapp::testing;

// Golden traces of add_policy() for three ticks, as the reference computes them.
class GoldenReplayTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { find_libraries(); }

  void keep(const std::string& name, float value) {
    tensors_.emplace_back(name, row({value, value, value, value}));
  }

  // `off` is added to the stored action of the last tick.
  std::filesystem::path write(float off = 0, GoldenNotes notes = {3, {}, {}, {}}) {
    add_policy(test_);
    PolicyReference reference;
    for (std::size_t tick = 0; tick < 3; ++tick) {
      const std::string at = std::to_string(tick);
      const float obs = 0.1F * static_cast<float>(tick) - 0.6F;
      keep(at + "/inputs/pre/x", obs);
      const float h = reference.h;
      const float action = reference.tick(obs);
      keep(at + "/outputs/post/y", action + (tick == 2 ? off : 0));
      // A state that was not observed is left out after the first tick.
      if (tick == 0) keep("0/inputs/policy/h_in", h);
      keep(at + "/outputs/policy/h_out", reference.h);
    }
    std::vector<NamedTensorView> views;
    for (const auto& [name, tensor] : tensors_) views.push_back({name, tensor.view()});
    const std::filesystem::path file = test_.folder() / "test_golden.safetensors";
    write_safetensors(file, views, notes.metadata());
    test_.bundle().pipeline.golden = FileEntry{file.filename().string(), "", sha256_file(file)};
    return test_.write();
  }

  TestBundle test_;
  std::vector<std::pair<std::string, Tensor>> tensors_;
};

TEST_F(GoldenReplayTest, b33_NodesAloneAndThePipelineRepeatWhatWasTraced) {
  InferenceManager manager(write(), {.merge = Merge::kOff});
  manager.run_policy({{"pre/x", row({1, 1, 1, 1})}});
  const TensorMap state = manager.state();
  const Verification verification = manager.verify();
  EXPECT_TRUE(verification.passed()) << to_string(verification);
  EXPECT_EQ(verification.ticks, 3u);
  EXPECT_EQ(verification.checks.size(), 12u);  // two ports, three ticks, node by node and as a
                                               // pipeline
  EXPECT_EQ(manager.state(), state);
  EXPECT_THAT(to_string(verification), HasSubstr("ok    post/y: worst error, by its node "));
}

TEST_F(GoldenReplayTest, b33_MergedNodesRepeatThemToo) {
  EXPECT_TRUE(InferenceManager(write()).verify().passed());
}

// A bundle that does not state which nodes are merged, B43.
TEST_F(GoldenReplayTest, b43_GoldenTicksDecideWhatIsMerged) {
  write();
  test_.bundle().pipeline.merged.reset();
  EXPECT_EQ(InferenceManager(test_.write()).description().size(), 1U);
}

TEST_F(GoldenReplayTest, b43_GoldenTicksThatDifferMergeNothing) {
  write(0.5F);
  test_.bundle().pipeline.merged.reset();
  EXPECT_EQ(InferenceManager(test_.write()).description().size(), 3U);
}

TEST_F(GoldenReplayTest, b43_GoldenTicksThatAreNotComparedMergeNothing) {
  write(0, {3, {}, {}, {{"pre", "it draws random numbers"}}});
  test_.bundle().pipeline.merged.reset();
  EXPECT_EQ(InferenceManager(test_.write()).description().size(), 3U);
}

// play: y = plan + the age of the plan, or -1. step, three times: y = x + the number of the run.
TEST_F(GoldenReplayTest, b33_ASchedulesTicksAreRepeated) {
  const auto number = [](const std::string& name) {
    return Port{.name = name, .dtype = DType::kInt64, .shape = {1}, .semantics = {}};
  };
  test_.node("planner", "affine.onnx", {port("x")}, {port("y")})
      .node("play", "count.onnx", {port("x"), number("n")}, {port("y")})
      .node("step", "count.onnx", {port("x"), number("n")}, {port("y")})
      .node("gate", "gate.onnx", {port("x", {1})},
            {{.name = "run", .dtype = DType::kBool, .shape = {1}, .semantics = {}}})
      .wire("planner/y", "play/x")
      .wire("play/y", "step/x")
      .input("planner/x")
      .input("gate/x")
      .output("play/y")
      .output("step/y")
      .output("gate/run");
  test_.bundle().pipeline.schedule = {{.node = "planner", .every = 2, .phase = 1},
                                      {.node = "play", .ages = {{"n", "planner"}}},
                                      {.node = "step",
                                       .repeat = 3,
                                       .carry = {{"y", "x"}},
                                       .index = "n",
                                       .when = PortRef{"gate", "run"}}};
  const std::array<float, 5> play = {-1, 1, 2, 1, 2};  // no plan; then 2 * 0 + 1 and its age
  const auto write_golden = [&](float off) {
    tensors_.clear();
    for (std::size_t tick = 0; tick < play.size(); ++tick) {
      const std::string at = std::to_string(tick);
      const bool runs = tick != 2;
      keep(at + "/inputs/planner/x", 0);
      tensors_.emplace_back(at + "/inputs/gate/x", Tensor({1}, {runs ? 1.0F : -1.0F}));
      Tensor run(DType::kBool, {1});
      *static_cast<std::uint8_t*>(run.data()) = runs ? 1 : 0;
      tensors_.emplace_back(at + "/outputs/gate/run", run);
      keep(at + "/outputs/play/y", play[tick] + (tick == 4 ? off : 0));
      if (runs) keep(at + "/outputs/step/y", play[tick] + 0 + 1 + 2);
    }
    std::vector<NamedTensorView> views;
    for (const auto& [name, tensor] : tensors_) views.push_back({name, tensor.view()});
    const std::filesystem::path file = test_.folder() / "test_golden.safetensors";
    write_safetensors(file, views, GoldenNotes{play.size(), {}, {}, {}}.metadata());
    test_.bundle().pipeline.golden = FileEntry{file.filename().string(), "", sha256_file(file)};
    return test_.write();
  };
  const Verification verification = InferenceManager(write_golden(0)).verify();
  EXPECT_TRUE(verification.passed()) << to_string(verification);
  EXPECT_EQ(verification.ticks, 5U);
  EXPECT_FALSE(InferenceManager(write_golden(0.5F)).verify().passed());
}

TEST_F(GoldenReplayTest, AValueThatIsOffIsNamedWithPortAndTick) {
  const std::filesystem::path yaml = write(0.5F);
  const InferenceManager manager(yaml);
  const Verification verification = manager.verify();
  EXPECT_FALSE(verification.passed());
  EXPECT_THAT(to_string(verification), HasSubstr("WRONG post/y: "));
  EXPECT_THAT(to_string(verification), HasSubstr("in tick 2 (Mismatch detected"));
  EXPECT_THAT(to_json(verification), HasSubstr("\"ok\": false"));

  leapp_manager* robot = nullptr;
  ASSERT_EQ(leapp_load(yaml.c_str(), nullptr, &robot), LEAPP_OK);
  leapp_verification found = {};
  EXPECT_NE(leapp_verify(robot, &found, sizeof(found)), LEAPP_OK);
  EXPECT_STREQ(leapp_last_code(), "LP941");
  EXPECT_THAT(leapp_last_error(), HasSubstr("post/y in golden tick 2"));
  EXPECT_EQ(found.ticks, 3u);
  EXPECT_GE(found.mismatched, 1u);
  EXPECT_NEAR(found.worst_error, 0.5, 1e-5);
  leapp_free(robot);
}

// Inputs alone, and nodes that are all marked as not compared, do not verify a machine.
TEST_F(GoldenReplayTest, TracesWithoutOutputsDoNotPass) {
  add_policy(test_);
  keep("0/inputs/pre/x", 1);
  std::vector<NamedTensorView> views;
  for (const auto& [name, tensor] : tensors_) views.push_back({name, tensor.view()});
  const std::filesystem::path file = test_.folder() / "test_golden.safetensors";
  write_safetensors(file, views, GoldenNotes{1, {}, {}, {}}.metadata());
  test_.bundle().pipeline.golden = FileEntry{file.filename().string(), "", sha256_file(file)};
  const std::filesystem::path yaml = test_.write();
  const Verification verification = InferenceManager(yaml).verify();
  EXPECT_FALSE(verification.passed());
  EXPECT_THAT(to_string(verification), HasSubstr("the golden traces contain no value for it"));
  leapp_manager* robot = nullptr;
  ASSERT_EQ(leapp_load(yaml.c_str(), nullptr, &robot), LEAPP_OK);
  leapp_verification found = {};
  EXPECT_EQ(leapp_verify(robot, &found, sizeof(found)), LEAPP_VALUE);
  EXPECT_STREQ(leapp_last_code(), "LP949");
  EXPECT_EQ(found.ticks, 1u);
  EXPECT_EQ(found.compared, 0u);
  leapp_free(robot);
}

TEST_F(GoldenReplayTest, NodesThatAreNotComparedDoNotPass) {
  const std::string random = "it draws random numbers";
  const GoldenNotes notes{3, {}, {}, {{"pre", random}, {"policy", random}, {"post", random}}};
  EXPECT_FALSE(InferenceManager(write(0, notes)).verify().passed());
}

TEST_F(GoldenReplayTest, TheToleranceIsTheOneThatTheTracesComeWith) {
  EXPECT_TRUE(InferenceManager(write(0.5F, {3, {0, 1}, {}, {}})).verify().passed());
}

TEST_F(GoldenReplayTest, WhatDrawsRandomNumbersIsLeftOut) {
  const InferenceManager manager(write(0.5F, {3, {}, {}, {{"post", "it draws random numbers"}}}));
  const Verification verification = manager.verify();
  EXPECT_TRUE(verification.passed()) << to_string(verification);
  EXPECT_THAT(to_string(verification), HasSubstr("left out: post: it draws random numbers"));
}

TEST_F(GoldenReplayTest, ABundleWithoutTracesSaysSo) {
  add_policy(test_);
  try {
    InferenceManager(test_.write()).verify();
    FAIL() << "it verified nothing";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNoGolden);
    EXPECT_THAT(error.what(), HasSubstr("test.yaml: the bundle has no golden traces"));
  }
}

TEST_F(GoldenReplayTest, b21_AChangedFileIsRefused) {
  const std::filesystem::path yaml = write();
  std::ofstream(test_.folder() / "test_golden.safetensors", std::ios::app) << "x";
  EXPECT_THROW(InferenceManager{yaml}, Error);
}

}  // namespace
}  // namespace leapp
