// Pipelines with a schedule: which nodes run, which values their readers see, and undo.
#include "runtime/schedule_runner.h"

#include <gmock/gmock.h>

#include "leapp/inference_manager.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace leapp::testing;

Port count_port(const std::string& name) {
  return {.name = name, .dtype = DType::kInt64, .shape = {1}};
}

Port bool_port(const std::string& name) {
  return {.name = name, .dtype = DType::kBool, .shape = {1}};
}

Tensor all(float value) {
  return row({value, value, value, value});
}

class ScheduleRunnerTest : public InferenceManagerTest {
 protected:
  NodeSchedule& schedule(const std::string& node) {
    auto& entries = test.bundle().pipeline.schedule;
    entries.push_back({.node = node});
    return entries.back();
  }

  /// Adds planner: plan = 2 goal + 1; tracker: y = plan + last / 2, with last = y of the tick
  /// before.
  void add_planner() {
    test.node("planner", "affine.onnx", {port("x")}, {port("y")})
        .node("tracker", "recurrent.onnx", {port("x"), port("h_in")}, {port("y"), port("h_out")})
        .wire("planner/y", "tracker/x")
        .feedback("tracker/h_out", "tracker/h_in")
        .input("planner/x")
        .output("planner/y")
        .output("tracker/y");
  }

  void load(RuntimeOptions options = {}) { manager_.emplace(test.write(), std::move(options)); }

  /// Runs a tick with one number in every element of the input. Returns the first element of an
  /// output.
  float tick(const std::string& input, float value, const std::string& output) {
    return floats(manager_->run_policy({{input, all(value)}}).at(output))[0];
  }

  std::optional<std::uint64_t> age(const std::string& output) {
    return manager_->output_age(manager_->output_port(output));
  }

  std::optional<InferenceManager> manager_;
};

TEST_F(ScheduleRunnerTest, AnOutputKeepsItsValueUntilItsNodeRunsAgain) {
  add_planner();
  schedule("planner").every = 3;
  load();
  EXPECT_EQ(age("planner/y"), std::nullopt);
  std::vector<float> plans;
  std::vector<std::uint64_t> ages;
  for (int i = 0; i < 5; ++i) {
    plans.push_back(tick("planner/x", static_cast<float>(i), "planner/y"));
    ages.push_back(age("planner/y").value());
    EXPECT_EQ(age("tracker/y"), 0U);
  }
  EXPECT_THAT(plans, ElementsAre(1, 1, 1, 7, 7));
  EXPECT_THAT(ages, ElementsAre(0, 1, 2, 0, 1));
}

TEST_F(ScheduleRunnerTest, BeforeItsPhaseANodeHasItsInitialValue) {
  add_planner();
  NodeSchedule& planner = schedule("planner");
  planner.every = 2;
  planner.phase = 1;
  test.initial("tracker/x", all(10));
  load();
  EXPECT_EQ(tick("planner/x", 1, "planner/y"), 10);
  EXPECT_EQ(age("planner/y"), std::nullopt);
  EXPECT_EQ(tick("planner/x", 1, "planner/y"), 3);
  EXPECT_EQ(tick("planner/x", 2, "planner/y"), 3);
  manager_->reset();
  EXPECT_EQ(tick("planner/x", 1, "planner/y"), 10);
}

TEST_F(ScheduleRunnerTest, StateOfANodeAdvancesOnlyWhenItRuns) {
  add_planner();
  schedule("tracker").every = 2;
  load();
  EXPECT_EQ(tick("planner/x", 0, "tracker/y"), 1);
  EXPECT_EQ(tick("planner/x", 0, "tracker/y"), 1);
  EXPECT_EQ(tick("planner/x", 0, "tracker/y"), 1.5f);
  EXPECT_EQ(tick("planner/x", 0, "tracker/y"), 1.5f);
  EXPECT_EQ(tick("planner/x", 0, "tracker/y"), 1.75f);
}

TEST_F(ScheduleRunnerTest, FeedbackBringsTheLatestValueFromBeforeTheTick) {
  // slow: y = 2 x + 1 every second tick; fast: y = clip(a + b), b = slow/y of an earlier tick.
  test.node("slow", "affine.onnx", {port("x")}, {port("y")})
      .node("fast", "recurrent.onnx", {port("x"), port("h_in")}, {port("y"), port("h_out")})
      .feedback("slow/y", "fast/h_in")
      .input("slow/x")
      .input("fast/x")
      .output("slow/y")
      .output("fast/y")
      .output("fast/h_out");
  schedule("slow").every = 2;
  load();
  std::vector<float> seen;
  for (int i = 0; i < 5; ++i) {
    const TensorMap out =
        manager_->run_policy({{"slow/x", all(static_cast<float>(i))}, {"fast/x", all(0)}});
    seen.push_back(floats(out.at("fast/y"))[0]);
  }
  EXPECT_THAT(seen, ElementsAre(0, 1, 1, 5, 5));
}

TEST_F(ScheduleRunnerTest, ARepeatedNodeReadsItsOwnRunBefore) {
  test.node("step", "affine.onnx", {port("x")}, {port("y")}).input("step/x").output("step/y");
  NodeSchedule& step = schedule("step");
  step.repeat = 3;
  step.carry = {{"y", "x"}};
  load();
  EXPECT_EQ(tick("step/x", 1, "step/y"), 15);  // 3, 7, 15
  EXPECT_EQ(tick("step/x", 0, "step/y"), 7);
  EXPECT_EQ(floats(manager_->value("step", "x"))[0], 0);  // set, not carried
}

TEST_F(ScheduleRunnerTest, TheRunsAreCounted) {
  test.node("step", "count.onnx", {port("x"), count_port("n")}, {port("y")})
      .input("step/x")
      .output("step/y");
  NodeSchedule& step = schedule("step");
  step.repeat = 4;
  step.carry = {{"y", "x"}};
  step.index = "n";
  load();
  EXPECT_EQ(tick("step/x", 1, "step/y"), 7);  // 1 + 0 + 1 + 2 + 3
  EXPECT_THAT(manager_->inputs(), ElementsAre("step/x"));
  EXPECT_THROW(manager_->set_input_value("step", "n", Tensor({1}, {std::int64_t{1}}).view()),
               Error);
}

TEST_F(ScheduleRunnerTest, AnAgeCountsFromTheRunOfItsNode) {
  test.node("planner", "affine.onnx", {port("x")}, {port("y")})
      .node("play", "count.onnx", {port("x"), count_port("n")}, {port("y")})
      .wire("planner/y", "play/x")
      .input("planner/x")
      .output("play/y");
  NodeSchedule& planner = schedule("planner");
  planner.every = 3;
  planner.phase = 1;
  schedule("play").ages = {{"n", "planner"}};
  load();
  std::vector<float> played;
  for (int i = 0; i < 6; ++i) played.push_back(tick("planner/x", 0, "play/y"));
  EXPECT_THAT(played, ElementsAre(-1, 1, 2, 3, 1, 2));
  manager_->reset();
  EXPECT_EQ(tick("planner/x", 0, "play/y"), -1);
}

TEST_F(ScheduleRunnerTest, AnOutputDecides) {
  test.node("detector", "affine.onnx", {port("x")}, {port("y")})
      .node("gate", "gate.onnx", {port("x", {1})}, {bool_port("run")})
      .input("detector/x")
      .input("gate/x")
      .output("gate/run")
      .output("detector/y");
  schedule("detector").when = PortRef{"gate", "run"};
  load();
  const auto run = [&](float x, float gate) {
    const TensorMap out =
        manager_->run_policy({{"detector/x", all(x)}, {"gate/x", Tensor({1}, {gate})}});
    return floats(out.at("detector/y"))[0];
  };
  EXPECT_EQ(run(1, -1), 0);
  EXPECT_EQ(run(2, 1), 5);
  EXPECT_EQ(run(3, -1), 5);
  EXPECT_EQ(run(4, 1), 9);
}

TEST_F(ScheduleRunnerTest, ANodeRunsWhenItsInputsChange) {
  add_planner();
  schedule("planner").on_change = {"x"};
  load();
  std::vector<std::uint64_t> ages;
  for (const float goal : {1.0f, 1.0f, 2.0f, 2.0f, 1.0f}) {
    EXPECT_EQ(tick("planner/x", goal, "planner/y"), 2 * goal + 1);
    ages.push_back(age("planner/y").value());
  }
  EXPECT_THAT(ages, ElementsAre(0, 1, 0, 1, 0));
}

TEST_F(ScheduleRunnerTest, AnUndoneTickTakesBackWhatAConditionalNodeComputed) {
  add_planner();
  schedule("planner").on_change = {"x"};
  load();
  EXPECT_EQ(tick("planner/x", 1, "tracker/y"), 3);
  const TensorMap before = manager_->state();
  tick("planner/x", 2, "tracker/y");
  manager_->undo_tick().value();
  EXPECT_EQ(manager_->state(), before);
  EXPECT_EQ(tick("planner/x", 1, "tracker/y"), 4.5f);  // 3 + 3 / 2: the goal did not change
  EXPECT_EQ(age("planner/y"), 1U);
}

TEST_F(ScheduleRunnerTest, AnUndoneTickGoesBackInTheSchedule) {
  add_planner();
  schedule("planner").every = 2;
  load();
  std::vector<float> plans;
  for (int i = 0; i < 6; ++i) {
    plans.push_back(tick("planner/x", static_cast<float>(i), "planner/y"));
    if (i % 2 == 1) manager_->undo_tick().value();
  }
  EXPECT_THAT(plans, ElementsAre(1, 1, 1, 7, 9, 9));  // ticks 0, 1, 1, 2, 2, 3
}

TEST_F(ScheduleRunnerTest, AFailedTickChangesNothing) {
  test.node("planner", "log.onnx", {port("x")}, {port("y")})
      .node("tracker", "recurrent.onnx", {port("x"), port("h_in")}, {port("y"), port("h_out")})
      .wire("planner/y", "tracker/x")
      .feedback("tracker/h_out", "tracker/h_in")
      .input("planner/x")
      .output("tracker/y");
  schedule("planner").on_change = {"x"};
  load({.finite = {.outputs = true}});
  EXPECT_EQ(tick("planner/x", 1, "tracker/y"), 0);
  const TensorMap before = manager_->state();
  EXPECT_THROW(tick("planner/x", -1, "tracker/y"), Error);
  EXPECT_EQ(manager_->state(), before);
  EXPECT_EQ(tick("planner/x", 1, "tracker/y"), 0);
}

TEST_F(ScheduleRunnerTest, AHeldValueThatIsNotFiniteIsFound) {
  test.node("planner", "log.onnx", {port("x")}, {port("y")})
      .node("tracker", "affine.onnx", {port("x")}, {port("y")})
      .wire("planner/y", "tracker/x")
      .input("planner/x")
      .output("tracker/y");
  schedule("planner").every = 2;
  load();
  tick("planner/x", -1, "tracker/y");
  EXPECT_FALSE(manager_->is_state_finite());
  load({.finite = {.state = true}});
  EXPECT_THROW(tick("planner/x", -1, "tracker/y"), Error);
}

TEST_F(ScheduleRunnerTest, TheStateHoldsThePositionAndWhatIsHeld) {
  add_planner();
  NodeSchedule& planner = schedule("planner");
  planner.every = 3;
  planner.on_change = {"x"};
  load();
  for (int i = 0; i < 8; ++i) {
    const TensorMap state = manager_->state();
    const float first = tick("planner/x", static_cast<float>(i / 4), "tracker/y");
    const TensorMap next = manager_->state();
    tick("planner/x", 9, "tracker/y");
    manager_->set_state(state);
    EXPECT_EQ(tick("planner/x", static_cast<float>(i / 4), "tracker/y"), first) << i;
    EXPECT_EQ(manager_->state(), next) << i;
  }
  TensorMap wrong = manager_->state();
  wrong.at("/last_run/planner") = Tensor({1}, {std::int64_t{100}});
  EXPECT_THROW(manager_->set_state(wrong), Error);
}

TEST_F(ScheduleRunnerTest, PreparingChangesNothing) {
  add_planner();
  schedule("planner").on_change = {"x"};
  load();
  const TensorMap before = manager_->state();
  manager_->prepare();
  EXPECT_EQ(manager_->state(), before);
  EXPECT_EQ(tick("planner/x", 1, "tracker/y"), 3);
}

TEST_F(ScheduleRunnerTest, AnOutputInTheCallersMemoryIsACopyOfWhatIsHeld) {
  add_planner();
  schedule("planner").every = 2;
  load();
  std::vector<float> memory(4);
  manager_->bind_output(manager_->output_port("planner/y"), memory);
  const InputPort goal = manager_->input_port("planner/x");
  manager_->set_input(goal, all(1)).value();
  for (int i = 0; i < 4; ++i) {
    manager_->tick().value();
    EXPECT_EQ(memory[0], 3);
    memory[0] = -100;  // this memory stays the caller's
  }
  EXPECT_EQ(floats(manager_->value("tracker", "y"))[0], 3 + 1.5f + 0.75f + 0.375f);
}

TEST_F(ScheduleRunnerTest, OnlyRunsAreCountedInTheStatistics) {
  add_planner();
  schedule("planner").every = 3;
  load({.measure = true});
  for (int i = 0; i < 7; ++i) tick("planner/x", 0, "planner/y");
  const Statistics statistics = manager_->statistics();
  ASSERT_EQ(statistics.nodes.size(), 2U);
  EXPECT_EQ(statistics.nodes[0].second.count, 3U);
  EXPECT_EQ(statistics.nodes[1].second.count, 7U);
}

TEST_F(ScheduleRunnerTest, NodesOfOnePeriodRunAsOne) {
  test.node("a", "affine.onnx", {port("x")}, {port("y")})
      .node("b", "affine.onnx", {port("x")}, {port("y")})
      .node("c", "affine.onnx", {port("x")}, {port("y")})
      .wire("a/y", "b/x")
      .wire("b/y", "c/x")
      .input("a/x")
      .output("c/y")
      .merged({"a", "b"});
  schedule("a").every = 2;
  schedule("b").every = 2;
  load();
  ASSERT_EQ(manager_->description().size(), 2U);
  EXPECT_THAT(manager_->description()[0], HasSubstr("a+b"));
  EXPECT_EQ(tick("a/x", 0, "c/y"), 7);
  EXPECT_EQ(floats(manager_->value("b", "x"))[0], 1);
  EXPECT_EQ(tick("a/x", 5, "c/y"), 7);
  const std::string error = message_of([&] { manager_->value("b", "x"); });
  EXPECT_THAT(error, HasSubstr("[LP610]"));
  EXPECT_EQ(tick("a/x", 1, "c/y"), 15);
}

}  // namespace
}  // namespace leapp
