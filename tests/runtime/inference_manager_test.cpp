#include "leapp/inference_manager.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <thread>

#include "leapp/merge.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace leapp::testing;

class InferenceManagerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { find_libraries(); }
  TestBundle test;
};

// --- Running -------------------------------------------------------------------------------------

TEST_F(InferenceManagerTest, RunsAPipelineWithStateAndFeedback) {
  add_policy(test);
  InferenceManager manager(test.write());
  EXPECT_THAT(manager.inputs(), ElementsAre("pre/x"));
  EXPECT_THAT(manager.outputs(), ElementsAre("post/y"));
  EXPECT_THAT(manager.feedback_inputs(), ElementsAre("policy/h_in", "post/b"));
  PolicyReference reference;
  for (int tick = 0; tick < 20; ++tick) {
    const float obs = std::sin(static_cast<float>(tick)) * 0.7f - 0.5f;
    const TensorMap outputs = manager.run_policy({{"pre/x", row({obs, obs, obs, obs})}});
    ASSERT_THAT(floats(outputs.at("post/y")), Each(FloatEq(reference.tick(obs)))) << tick;
  }
}

TEST_F(InferenceManagerTest, RealTimeFaceGivesTheSame) {
  add_policy(test);
  InferenceManager manager(test.write());
  const InputPort obs = manager.input_port("pre/x");
  const OutputPort action = manager.output_port("post/y");
  manager.prepare();
  PolicyReference reference;
  for (int tick = 0; tick < 5; ++tick) {
    const float value = 0.1f * static_cast<float>(tick) - 0.6f;
    const std::array<float, 4> elements{value, value, value, value};
    manager.set_input(obs, elements.data());
    manager.tick().value();
    ASSERT_THAT(floats(manager.output(action)), Each(FloatEq(reference.tick(value))));
  }
}

TEST_F(InferenceManagerTest, NodesRunInOrderOfTheirWires) {
  // Listed back to front.
  test.node("second", "affine.onnx", {port("x")}, {port("y")})
      .node("first", "affine.onnx", {port("x")}, {port("y")})
      .wire("first/y", "second/x")
      .input("first/x")
      .output("second/y");
  InferenceManager manager(test.write());
  const TensorMap outputs = manager.run_policy({{"first/x", row({0, 1, 2, 3})}});
  EXPECT_THAT(floats(outputs.at("second/y")), ElementsAre(3, 7, 11, 15));
}

TEST_F(InferenceManagerTest, OneOutputFeedsManyInputsInsideAndOutside) {
  test.node("pre", "affine.onnx", {port("x")}, {port("y")})
      .node("post", "clamp_sum.onnx", {port("a"), port("b")}, {port("y")})
      .wire("pre/y", "post/a")
      .wire("pre/y", "post/b")
      .input("pre/x")
      .output("pre/y")
      .output("post/y");
  InferenceManager manager(test.write());
  const TensorMap outputs = manager.run_policy({{"pre/x", row({-0.75, -0.5, -0.25, 4})}});
  EXPECT_THAT(floats(outputs.at("pre/y")), ElementsAre(-0.5, 0, 0.5, 9));
  EXPECT_THAT(floats(outputs.at("post/y")), ElementsAre(-1, 0, 1, 1));
}

TEST_F(InferenceManagerTest, FeedbackToManyInputsKeepsThemApart) {
  test.node("policy", "recurrent.onnx", {port("x"), port("h_in")}, {port("y"), port("h_out")})
      .feedback("policy/h_out", "policy/x")
      .feedback("policy/h_out", "policy/h_in")
      .output("policy/y")
      .initial("policy/x", row({8, 8, 8, 8}));
  InferenceManager manager(test.write());
  EXPECT_THAT(floats(manager.run_policy({}).at("policy/y")), Each(8));
  EXPECT_THAT(floats(manager.run_policy({}).at("policy/y")), Each(8));
  manager.set_input_value("policy", "h", row({2, 2, 2, 2}).view());
  EXPECT_THAT(floats(manager.run_policy({}).at("policy/y")), Each(6));
  EXPECT_THAT(floats(manager.run_policy({}).at("policy/y")), Each(6));
}

// The sum of what `pre` is now and what it was in the tick before, though it has run by then.
void add_sum_with_the_tick_before(TestBundle& test) {
  test.node("pre", "affine.onnx", {port("x")}, {port("y")})
      .node("post", "clamp_sum.onnx", {port("a"), port("b")}, {port("y")})
      .wire("pre/y", "post/a")
      .feedback("pre/y", "post/b")
      .input("pre/x")
      .output("post/y")
      .initial("post/b", row({0.5f, 0.5f, 0.5f, 0.5f}));
}

TEST_F(InferenceManagerTest, ANodeReadsTheTickBeforeOfOneThatHasRunAlready) {
  add_sum_with_the_tick_before(test);
  const auto yaml = test.write();
  const auto folder = test.folder() / "one";
  const Bundle one = merge_bundle(yaml, folder);
  for (const auto& [file, prefix, merge] :
       {std::tuple(yaml, "", Merge::kOff), std::tuple(yaml, "", Merge::kAuto),
        std::tuple(one.file, "one", Merge::kAuto)}) {
    InferenceManager manager(file, {.merge = merge});
    const bool merged = *prefix != 0;
    const auto tick = [&](float obs) {
      const TensorMap in = {{merged ? "one/pre.x" : "pre/x", row({obs, obs, obs, obs})}};
      return floats(manager.run_policy(in).at(merged ? "one/post.y" : "post/y"));
    };
    EXPECT_THAT(tick(-0.6f), Each(FloatEq(0.3f)));  // -0.2 + 0.5
    EXPECT_THAT(tick(-0.7f), Each(FloatEq(-0.6f)));
    const TensorMap state = manager.state();
    EXPECT_THAT(tick(-0.3f), Each(FloatEq(0.0f)));
    EXPECT_THAT(tick(-0.5f), Each(FloatEq(0.4f)));
    manager.set_state(state);
    EXPECT_THAT(tick(-0.5f), Each(FloatEq(-0.4f)));
    InferenceManager restored(file, {.merge = merge});
    restored.set_state(state);
    const TensorMap in = {{merged ? "one/pre.x" : "pre/x", row({0, 0, 0, 0})}};
    EXPECT_THAT(floats(restored.run_policy(in).at(merged ? "one/post.y" : "post/y")),
                Each(FloatEq(0.6f)));
    manager.reset();
    EXPECT_THAT(tick(-0.6f), Each(FloatEq(0.3f)));
  }
}

TEST_F(InferenceManagerTest, OutputsAreTheCallersToKeep) {
  add_policy(test);
  InferenceManager manager(test.write());
  const TensorMap first = manager.run_policy({{"pre/x", row({0, 0, 0, 0})}});
  const std::vector<float> before = floats(first.at("post/y"));
  manager.run_policy({{"pre/x", row({-9, -9, -9, -9})}});
  manager.reset();
  EXPECT_EQ(floats(first.at("post/y")), before);
}

#ifdef LEAPP_TEST_LIBRARIES
TEST_F(InferenceManagerTest, TorchScriptReadsTheTickBeforeOfANodeThatHasRunAlready) {
  test.node("pre", "affine.pt", {port("x")}, {port("y")})
      .node("policy", "recurrent.pt", {port("x"), port("h")}, {port("y"), port("h")})
      .feedback("pre/y", "policy/x")
      .feedback("policy/h", "policy/h")
      .input("pre/x")
      .output("pre/y")
      .output("policy/y");
  const auto yaml = test.write();
  for (const Merge merge : {Merge::kOff, Merge::kAuto}) {
    for (const bool translate : {false, true}) {
      InferenceManager manager(yaml, {.engine = {.translate = translate}, .merge = merge});
      float before = 0;
      float h = 0;
      for (int tick = 0; tick < 6; ++tick) {
        const float obs = 0.25f * static_cast<float>(tick);
        const TensorMap outputs = manager.run_policy({{"pre/x", row({obs, obs, obs, obs})}});
        const float y = before + h;
        ASSERT_THAT(floats(outputs.at("policy/y")), Each(FloatEq(y))) << tick;
        h = y / 2;
        before = 2 * obs + 1;
        ASSERT_THAT(floats(outputs.at("pre/y")), Each(FloatEq(before))) << tick;
      }
    }
  }
}

TEST_F(InferenceManagerTest, TorchScriptAndOnnxNodesShareWires) {
  test.node("pre", "affine.pt", {port("x")}, {port("y")})
      .node("policy", "recurrent.pt", {port("x"), port("h")}, {port("y"), port("h")})
      .node("post", "clamp_sum.onnx", {port("a"), port("b")}, {port("y")})
      .wire("pre/y", "policy/x")
      .wire("policy/y", "post/a")
      .feedback("policy/h", "policy/h")
      .feedback("post/y", "post/b")
      .input("pre/x")
      .output("post/y");
  InferenceManager manager(test.write());
  PolicyReference reference;
  for (int tick = 0; tick < 10; ++tick) {
    const float obs = 0.3f - 0.2f * static_cast<float>(tick % 7);
    const TensorMap outputs = manager.run_policy({{"pre/x", row({obs, obs, obs, obs})}});
    ASSERT_THAT(floats(outputs.at("post/y")), Each(FloatEq(reference.tick(obs)))) << tick;
  }
}
#endif

// --- State ---------------------------------------------------------------------------------------

TEST_F(InferenceManagerTest, InitialValuesComeFromTheBundleAndResetBringsThemBack) {
  add_policy(test);
  test.initial("policy/h_in", row({4, 4, 4, 4}));
  InferenceManager manager(test.write(), {.merge = Merge::kOff});
  for (int round = 0; round < 3; ++round) {
    manager.run_policy({{"pre/x", row({0, 0, 0, 0})}});
    EXPECT_THAT(floats(manager.value("policy", "y")), Each(5));  // 2 * 0 + 1 + 4
    if (round == 1) manager.run_policy({{"pre/x", row({1, 1, 1, 1})}});
    manager.reset();
  }
}

TEST_F(InferenceManagerTest, SetInputValueOverridesTheStateOnce) {
  add_policy(test);
  InferenceManager manager(test.write());
  const TensorMap obs = {{"pre/x", row({-0.5, -0.5, -0.5, -0.5})}};  // 2 obs + 1 = 0
  manager.set_input_value("policy", "h_in", row({8, 4, 2, 0}).view());
  manager.run_policy(obs);
  EXPECT_THAT(floats(manager.state().at("policy/h_in")), ElementsAre(4, 2, 1, 0));
  // The name as annotated serves too.
  manager.set_input_value("policy", "h", row({2, 2, 2, 2}).view());
  manager.run_policy(obs);
  EXPECT_THAT(floats(manager.state().at("policy/h_in")), Each(1));
}

TEST_F(InferenceManagerTest, StateGoesBackATick) {
  add_policy(test);
  InferenceManager manager(test.write());
  const TensorMap obs = {{"pre/x", row({0.1f, -0.2f, 0.3f, -0.9f})}};
  manager.run_policy(obs);
  const TensorMap saved = manager.state();
  const TensorMap first = manager.run_policy(obs);
  const TensorMap other = manager.run_policy(obs);
  manager.set_state(saved);
  EXPECT_EQ(manager.run_policy(obs), first);
  EXPECT_EQ(manager.run_policy(obs), other);
}

TEST_F(InferenceManagerTest, WrongStateIsRefusedAsAWhole) {
  add_policy(test);
  InferenceManager manager(test.write());
  const TensorMap saved = manager.state();
  TensorMap incomplete = saved;
  incomplete.erase("post/b");
  incomplete.at("policy/h_in") = row({1, 1, 1, 1});
  EXPECT_EQ(message_of([&] { manager.set_state(incomplete); }),
            "the state lacks post/b; it needs: policy/h_in, post/b [LP604]");
  TensorMap more = saved;
  more.emplace("post/c", row({1, 1, 1, 1}));
  EXPECT_EQ(message_of([&] { manager.set_state(more); }),
            "'post/c' is no feedback input; they are: policy/h_in, post/b [LP601]");
  EXPECT_EQ(manager.state(), saved);
}

TEST_F(InferenceManagerTest, PrepareLeavesNoTrace) {
  add_policy(test);
  test.initial("policy/h_in", row({4, 4, 4, 4}));
  InferenceManager manager(test.write());
  const TensorMap before = manager.state();
  for (int ticks = 1; ticks <= 3; ++ticks) {
    manager.prepare(ticks);
    EXPECT_EQ(manager.state(), before);
  }
  const Result<void> result = manager.tick();  // its mock input must not count as input
  EXPECT_EQ(result.failure().message(),
            "input pre/x is missing; the pipeline takes: pre/x [LP604]");
}

// --- Inputs --------------------------------------------------------------------------------------

TEST_F(InferenceManagerTest, WrongInputsNameThePort) {
  add_policy(test);
  InferenceManager manager(test.write());
  EXPECT_EQ(message_of([&] { manager.run_policy({}); }),
            "input pre/x is missing; the pipeline takes: pre/x [LP604]");
  EXPECT_EQ(message_of([&] {
              manager.run_policy({{"pre/x", row({0, 0, 0, 0})}, {"pre/z", row({0, 0, 0, 0})}});
            }),
            "'pre/z' is no input of the pipeline, which takes: pre/x [LP601]");
  EXPECT_EQ(message_of([&] {
              manager.run_policy({{"policy/h", row({0, 0, 0, 0})}});
            }),
            "'policy/h' is no input of the pipeline (it is fed back: set_input_value() overrides "
            "it), which takes: pre/x [LP601]");
  EXPECT_EQ(message_of([&] {
              manager.run_policy({{"pre/x", Tensor({1, 3}, {1.f, 2.f, 3.f})}});
            }),
            "input pre/x has shape [1, 3], expected [1, 4] [LP603]");
  EXPECT_EQ(message_of([&] {
              manager.run_policy({{"pre/x", Tensor({1, 4}, {1.0, 2.0, 3.0, 4.0})}});
            }),
            "input pre/x is float64, expected float32 [LP602]");
}

TEST_F(InferenceManagerTest, SetInputValueSaysWhatCannotBeSet) {
  add_policy(test);
  InferenceManager manager(test.write());
  const Tensor value = row({0, 0, 0, 0});
  EXPECT_EQ(message_of([&] { manager.set_input_value("policy", "x", value.view()); }),
            "policy/x is computed by another node in every tick; only external and feedback "
            "inputs can be set: pre/x; policy/h_in, post/b [LP601]");
  EXPECT_EQ(message_of([&] { manager.set_input_value("policy", "z", value.view()); }),
            "node 'policy' has no input 'z'; it has: x, h_in [LP601]");
  EXPECT_EQ(message_of([&] { manager.set_input_value("nobody", "z", value.view()); }),
            "there is no node 'nobody' [LP601]");
  EXPECT_EQ(message_of([&] {
              manager.set_input_value("policy", "h", Tensor(DType::kFloat32, {4}).view());
            }),
            "input policy/h has shape [4], expected [1, 4] [LP603]");
}

TEST_F(InferenceManagerTest, AnInputThatWasSetNeedNotBeGiven) {
  test.node("sum", "clamp_sum.onnx", {port("a"), port("b")}, {port("y")})
      .input("sum/a")
      .input("sum/b")
      .output("sum/y");
  InferenceManager manager(test.write());
  manager.set_input_value("sum", "b", row({0.5, 0.5, 0.5, 0.5}).view());
  const TensorMap a = {{"sum/a", row({0.25, 0.25, 0.25, 0.25})}};
  EXPECT_THAT(floats(manager.run_policy(a).at("sum/y")), Each(0.75));
  EXPECT_THAT(floats(manager.run_policy(a).at("sum/y")), Each(0.75));
  // Given once, it must be given again.
  TensorMap both = a;
  both.emplace("sum/b", row({0, 0, 0, 0}));
  EXPECT_THAT(floats(manager.run_policy(both).at("sum/y")), Each(0.25));
  EXPECT_THAT(message_of([&] { manager.run_policy(a); }), HasSubstr("input sum/b is missing"));
}

TEST_F(InferenceManagerTest, MockInputFitsAndRepeats) {
  add_policy(test);
  InferenceManager manager(test.write());
  const TensorMap mock = manager.get_mock_input(3);
  EXPECT_EQ(mock, manager.get_mock_input(3));
  EXPECT_NE(mock, manager.get_mock_input(4));
  EXPECT_NO_THROW(manager.run_policy(mock));
}

TEST_F(InferenceManagerTest, UnknownPortsListWhatThereIs) {
  add_policy(test);
  InferenceManager manager(test.write());
  EXPECT_EQ(message_of([&] { manager.input_port("pre/y"); }),
            "'pre/y' is no input of the pipeline, which takes: pre/x [LP601]");
  EXPECT_EQ(message_of([&] { manager.output_port("pre/x"); }),
            "'pre/x' is no output of the pipeline, which gives: post/y [LP601]");
  EXPECT_EQ(message_of([&] { manager.value("policy", "z"); }),
            "node 'policy' has no port 'z'; it has: x, h_in; y, h_out [LP601]");
}

// --- The caller's own memory
// -----------------------------------------------------------------------

TEST_F(InferenceManagerTest, BoundMemoryIsReadAndWrittenInPlace) {
  test.node("pre", "affine.onnx", {port("x")}, {port("y")})
      .node("post", "affine.onnx", {port("x")}, {port("y")})
      .wire("pre/y", "post/x")
      .input("pre/x")
      .output("pre/y")
      .output("post/y");
  InferenceManager manager(test.write());
  std::array<float, 4> x{1, 2, 3, 4};
  std::array<float, 4> middle{};
  std::array<float, 4> y{};
  manager.bind_input(manager.input_port("pre/x"), x.data());
  manager.bind_output(manager.output_port("pre/y"), middle.data());
  manager.bind_output(manager.output_port("post/y"), y.data());
  manager.tick().value();
  EXPECT_THAT(middle, ElementsAre(3, 5, 7, 9));
  EXPECT_THAT(y, ElementsAre(7, 11, 15, 19));
  EXPECT_EQ(manager.output(manager.output_port("post/y")).data, y.data());
  x = {0, 0, 0, 0};
  manager.tick().value();
  EXPECT_THAT(y, Each(3));
  // Back to the manager's own memory.
  manager.bind_output(manager.output_port("post/y"), nullptr);
  x = {1, 1, 1, 1};
  manager.tick().value();
  EXPECT_THAT(y, Each(3));
  EXPECT_THAT(floats(manager.output(manager.output_port("post/y"))), Each(7));
}

TEST_F(InferenceManagerTest, BoundOutputThatIsFedBackIsACopy) {
  add_policy(test);
  InferenceManager manager(test.write());
  std::array<float, 4> action{};
  manager.bind_output(manager.output_port("post/y"), action.data());
  PolicyReference reference;
  for (int tick = 0; tick < 5; ++tick) {
    manager.run_policy({{"pre/x", row({-0.6f, -0.6f, -0.6f, -0.6f})}});
    ASSERT_THAT(action, Each(FloatEq(reference.tick(-0.6f))));
    action.fill(100);  // the caller's memory is the caller's
  }
}

TEST_F(InferenceManagerTest, BoundInputIsNeverWritten) {
  add_policy(test);
  InferenceManager manager(test.write());
  const std::array<float, 4> x{1, 2, 3, 4};
  const InputPort port = manager.input_port("pre/x");
  manager.bind_input(port, x.data());
  manager.prepare();
  EXPECT_THAT(message_of([&] {
                manager.run_policy({{"pre/x", row({0, 0, 0, 0})}});
              }),
              HasSubstr("input pre/x is bound to the caller's memory"));
  manager.set_input(port, row({0, 0, 0, 0}).data());
  const Result<void> result = manager.tick();
  EXPECT_THAT(std::string(result.failure().message()),
              HasSubstr("input pre/x is bound to the caller's memory and cannot be set too"));
  EXPECT_THAT(x, ElementsAre(1, 2, 3, 4));
}

// --- Guards --------------------------------------------------------------------------------------

TEST_F(InferenceManagerTest, FiniteGuardRollsTheStateBack) {
  // y = log(x) in front of the recurrent node: a negative input makes NaN.
  test.node("pre", "log.onnx", {port("x")}, {port("y")})
      .node("policy", "recurrent.onnx", {port("x"), port("h_in")}, {port("y"), port("h_out")})
      .wire("pre/y", "policy/x")
      .feedback("policy/h_out", "policy/h_in")
      .input("pre/x")
      .output("policy/y");
  const auto yaml = test.write();
  for (const FiniteGuard guard : {FiniteGuard{.state = true}, FiniteGuard{.outputs = true}}) {
    InferenceManager manager(yaml, {.finite = guard});
    manager.run_policy({{"pre/x", row({1, 2, 3, 4})}});
    const TensorMap before = manager.state();
    EXPECT_EQ(message_of([&] {
                manager.run_policy({{"pre/x", row({1, 2, -3, 4})}});
              }),
              std::string(guard.state ? "policy/h_in" : "policy/y") +
                  " holds NaN or infinity; the state is as it was before this tick [LP606]");
    EXPECT_EQ(manager.state(), before);
    EXPECT_NO_THROW(manager.run_policy({{"pre/x", row({1, 2, 3, 4})}}));
  }
  InferenceManager guarded(yaml, {.finite = {.inputs = true}});
  EXPECT_EQ(message_of([&] {
              guarded.run_policy({{"pre/x", row({1, 2, NAN, 4})}});
            }),
            "pre/x holds NaN or infinity; the state is as it was before this tick [LP606]");
  InferenceManager open(yaml);
  EXPECT_NO_THROW(open.run_policy({{"pre/x", row({1, 2, -3, 4})}}));
}

TEST_F(InferenceManagerTest, StaleInputIsAFailure) {
  add_policy(test);
  InferenceManager manager(test.write(), {.staleness = {{"pre/x", std::chrono::milliseconds(5)}}});
  const InputPort obs = manager.input_port("pre/x");
  manager.set_input(obs, row({0, 0, 0, 0}).data());
  std::this_thread::sleep_for(std::chrono::milliseconds(6));
  const Result<void> result = manager.tick();
  EXPECT_EQ(result.failure().message(), "input pre/x is stale: it is older than its limit [LP605]");
  EXPECT_EQ(message_of([&] {
              InferenceManager bad(test.write(), {.staleness = {{"pre/z", {}}}});
            }),
            "a staleness limit was given for 'pre/z', which is no input of the pipeline [LP619]");
}

TEST_F(InferenceManagerTest, MissedDeadlinesAreCountedAndReported) {
  add_policy(test);
  std::vector<DeadlineMiss> misses;
  RuntimeOptions options;
  options.deadline = std::chrono::nanoseconds(1);
  options.on_deadline_miss = [&](const DeadlineMiss& miss) { misses.push_back(miss); };
  InferenceManager manager(test.write(), options);
  manager.run_policy(manager.get_mock_input());
  manager.run_policy(manager.get_mock_input());
  ASSERT_EQ(misses.size(), 2u);
  EXPECT_EQ(misses[1].tick, 1u);
  EXPECT_GT(misses[1].took, misses[1].deadline);
  EXPECT_EQ(manager.statistics().deadline_misses, 2u);
}

TEST_F(InferenceManagerTest, LatenciesAreMeasuredOnRequest) {
  add_policy(test);
  InferenceManager manager(test.write(), {.merge = Merge::kOff, .measure = true});
  for (int i = 0; i < 10; ++i) manager.run_policy(manager.get_mock_input());
  const Statistics statistics = manager.statistics();
  EXPECT_EQ(statistics.tick.count, 10u);
  ASSERT_EQ(statistics.nodes.size(), 3u);
  EXPECT_EQ(statistics.nodes[1].first, "policy");
  EXPECT_EQ(statistics.nodes[1].second.count, 10u);
  EXPECT_LE(statistics.nodes[1].second.max, statistics.tick.max);
  manager.reset_statistics();
  EXPECT_EQ(manager.statistics().tick.count, 0u);
}

// An engine that lets a test look into the middle of a tick.
class SlowEngine final : public Engine {
 public:
  class Run final : public Binding {
   public:
    explicit Run(std::function<void()> hook) : hook_(std::move(hook)) {}
    void rebind_input(std::size_t, const ConstTensorView&) override {}
    void rebind_output(std::size_t, const TensorView&) override {}
    Result<void> run() noexcept override {
      hook_();
      return {};
    }

   private:
    std::function<void()> hook_;
  };

  explicit SlowEngine(std::function<void()> hook) : hook_(std::move(hook)) {}
  std::string description() const override { return "slow"; }
  std::unique_ptr<Binding> bind(std::span<const ConstTensorView>,
                                std::span<const TensorView>) override {
    return std::make_unique<Run>(hook_);
  }

 private:
  std::function<void()> hook_;
};

TEST_F(InferenceManagerTest, TwoThreadsInOneManagerAreAnError) {
  add_policy(test);
  std::atomic<bool> inside{false};
  std::atomic<bool> go_on{false};
  RuntimeOptions options;
  options.merge = Merge::kOff;
  options.engines.add("onnx", [&](const Model&, const ModelFile&, const EngineOptions&) {
    return std::make_unique<SlowEngine>([&] {
      inside = true;
      while (!go_on) std::this_thread::yield();
    });
  });
  InferenceManager manager(test.write(), options);
  manager.set_input(manager.input_port("pre/x"), row({0, 0, 0, 0}).data());
  std::thread other([&] { EXPECT_TRUE(manager.tick()); });
  while (!inside) std::this_thread::yield();
  const Result<void> result = manager.tick();
  EXPECT_EQ(result.failure().message(),
            "two threads use this InferenceManager at once; give each thread a manager of its own "
            "[LP609]");
  EXPECT_THAT(message_of([&] { manager.reset(); }), HasSubstr("two threads use this"));
  go_on = true;
  other.join();
  EXPECT_TRUE(manager.tick());
}

// y = 2 x, slowly enough for another thread to come in between.
class DoublingEngine final : public Engine {
 public:
  class Run final : public Binding {
   public:
    Run(const float* from, float* to) : from_(from), to_(to) {}
    void rebind_input(std::size_t, const ConstTensorView&) override {}
    void rebind_output(std::size_t, const TensorView&) override {}
    Result<void> run() noexcept override {
      for (int i = 0; i < 4; ++i) {
        to_[i] = 2 * from_[i];
        std::this_thread::yield();
      }
      return {};
    }

   private:
    const float* from_;
    float* to_;
  };

  std::string description() const override { return "doubling"; }
  std::unique_ptr<Binding> bind(std::span<const ConstTensorView> inputs,
                                std::span<const TensorView> outputs) override {
    return std::make_unique<Run>(static_cast<const float*>(inputs[0].data),
                                 static_cast<float*>(outputs[0].data));
  }
};

// Under ThreadSanitizer this also shows that no two calls touch the values at once.
TEST_F(InferenceManagerTest, CallsOfTwoThreadsGiveRightResultsOrAnError) {
  test.node("n", "affine.onnx", {port("x")}, {port("y")}).input("n/x").output("n/y");
  RuntimeOptions options;
  options.engines.add("onnx", [](const Model&, const ModelFile&, const EngineOptions&) {
    return std::make_unique<DoublingEngine>();
  });
  InferenceManager manager(test.write(), options);
  const InputPort x = manager.input_port("n/x");
  std::atomic<int> done{0};
  const auto work = [&](float value) {
    const TensorMap inputs = {{"n/x", row({value, value, value, value})}};
    const std::vector<float> elements(4, value);
    for (int i = 0; i < 2000; ++i) {
      try {
        const TensorMap outputs = manager.run_policy(inputs);
        ++done;
        for (float y : outputs.at("n/y").values<float>()) ASSERT_EQ(y, 2 * value);
        manager.state();
        manager.statistics();
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), Code::kTwoThreads);
      }
      manager.set_input(x, elements.data());
      if (const Result<void> set = manager.set_input(x, elements); !set) {
        ASSERT_EQ(set.failure().code(), Code::kTwoThreads);
      }
      if (const Result<void> ticked = manager.tick(); !ticked) {
        ASSERT_EQ(ticked.failure().code(), Code::kTwoThreads);
      }
    }
  };
  std::thread other(work, 1.0f);
  work(2.0f);
  other.join();
  EXPECT_GT(done, 0);
}

TEST_F(InferenceManagerTest, ACallThatCannotFailMakesTheNextTickFail) {
  test.node("n", "affine.onnx", {port("x")}, {port("y")}).input("n/x").output("n/y");
  InferenceManager manager(test.write());
  const InputPort x = manager.input_port("n/x");
  manager.set_input(x, static_cast<const void*>(nullptr));
  EXPECT_EQ(manager.tick().failure().code(), Code::kWrongValue);
  manager.set_input(InputPort(), row({1, 1, 1, 1}).data());
  EXPECT_EQ(manager.tick().failure().code(), Code::kUnknownPort);
  manager.touch(InputPort());
  EXPECT_EQ(manager.tick().failure().code(), Code::kUnknownPort);
  EXPECT_EQ(manager.input(InputPort()).data, nullptr);
  EXPECT_EQ(manager.output(OutputPort()).data, nullptr);
  EXPECT_THROW(manager.bind_input(InputPort(), nullptr), Error);
  EXPECT_THROW(manager.set_input_value("n", "x", ConstTensorView(nullptr, DType::kFloat32, {1, 4})),
               Error);
  EXPECT_EQ(manager.get_output(manager.output_port("n/y"), nullptr).failure().code(),
            Code::kWrongValue);
  manager.set_input(x, row({1, 1, 1, 1}).data());
  EXPECT_TRUE(manager.tick());
}

TEST_F(InferenceManagerTest, ElementsComeTypedAndSized) {
  test.node("n", "affine.onnx", {port("x")}, {port("y")}).input("n/x").output("n/y");
  InferenceManager manager(test.write());
  InputPort x;  // a member of the user's, say
  x = manager.input_port("n/x");
  const OutputPort y = manager.output_port("n/y");
  ASSERT_TRUE(manager.set_input(x, std::vector<float>{1, 2, 3, 4}));
  ASSERT_TRUE(manager.tick());
  const std::span<const float> values = manager.output(y).values<float>();
  EXPECT_THAT(values, ElementsAre(3, 5, 7, 9));
  EXPECT_EQ(manager.set_input(x, std::array<float, 3>{}).failure().text(),
            "input n/x has 3 elements, expected 4");
  EXPECT_EQ(manager.set_input(x, std::vector<double>(4)).failure().text(),
            "input n/x is float64, expected float32");
  EXPECT_THROW(static_cast<void>(manager.output(y).values<double>()), Error);
}

TEST_F(InferenceManagerTest, AManagerThatWasMovedFromSaysSo) {
  test.node("n", "affine.onnx", {port("x")}, {port("y")}).input("n/x").output("n/y");
  InferenceManager manager(test.write());
  const InputPort x = manager.input_port("n/x");
  InferenceManager other = std::move(manager);
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_EQ(manager.tick().failure().code(), Code::kUsage);
  EXPECT_EQ(manager.set_input(x, std::vector<float>(4)).failure().code(), Code::kUsage);
  manager.set_input(x, row({1, 1, 1, 1}).data());
  manager.touch(x);
  manager.clear_inputs();
  EXPECT_TRUE(manager.inputs().empty());
  EXPECT_TRUE(manager.bundle().models.empty());
  EXPECT_EQ(manager.input(x).data, nullptr);
  EXPECT_THROW(manager.run_policy({}), Error);
  EXPECT_THROW(manager.prepare(), Error);
  EXPECT_THROW(static_cast<void>(manager.device()), Error);
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_TRUE(other.set_input(x, std::vector<float>(4)));
}

TEST_F(InferenceManagerTest, BoundMemoryMustBeAligned) {
  test.node("n", "affine.onnx", {port("x")}, {port("y")}).input("n/x").output("n/y");
  InferenceManager manager(test.write());
  alignas(float) std::array<char, 20> memory{};
  EXPECT_THAT(message_of([&] { manager.bind_input(manager.input_port("n/x"), memory.data() + 1); }),
              HasSubstr("is not aligned for float32"));
}

TEST_F(InferenceManagerTest, ThreadsHaveALimit) {
  test.node("n", "affine.onnx", {port("x")}, {port("y")}).input("n/x").output("n/y");
  const auto yaml = test.write();
  RuntimeOptions options;
  options.engine.threads = 100000;
  EXPECT_THAT(message_of([&] { InferenceManager(yaml, options); }),
              HasSubstr("threads must be at most"));
}

TEST_F(InferenceManagerTest, DistinctManagersRunInDistinctThreads) {
  add_policy(test);
  const auto yaml = test.write();
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> results(4);
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] {
      InferenceManager manager(yaml);
      for (int tick = 0; tick < 200; ++tick) {
        results[i] =
            floats(manager.run_policy({{"pre/x", row({-0.6f, 0, 0.1f, -2})}}).at("post/y"));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<float>& result : results) EXPECT_EQ(result, results[0]);
}

// --- Loading -------------------------------------------------------------------------------------

TEST_F(InferenceManagerTest, ChangedModelFileIsRefused) {
  add_policy(test);
  const auto yaml = test.write();
  std::ofstream(test.folder() / "policy.onnx", std::ios::app) << "x";
  EXPECT_THAT(message_of([&] { InferenceManager manager(yaml); }),
              HasSubstr("SHA256 checksum mismatch"));
}

TEST_F(InferenceManagerTest, UnknownBackendIsRefused) {
  add_policy(test);
  test.bundle().models[1].backend = "tflite";
  EXPECT_THAT(message_of([&] { InferenceManager manager(test.write()); }),
              HasSubstr("Unsupported backend"));
}

TEST_F(InferenceManagerTest, MissingFilesAreNotFound) {
  try {
    InferenceManager manager(test.folder() / "none.yaml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNotFound);
    EXPECT_THAT(error.what(), HasSubstr("not found"));
  }
}

TEST_F(InferenceManagerTest, ANodeWithoutAModelCanBeInspectedButNotRun) {
  test.node("pre", "", {port("x")}, {port("y")}).input("pre/x").output("pre/y");
  InferenceManager manager(test.write());
  EXPECT_THAT(manager.inputs(), ElementsAre("pre/x"));
  EXPECT_THAT(message_of([&] { manager.run_policy(manager.get_mock_input()); }),
              HasSubstr("node 'pre' was exported without a model (export_with=None"));
  EXPECT_THAT(message_of([&] { manager.prepare(); }), HasSubstr("without a model"));
}

TEST_F(InferenceManagerTest, OptionsThatMakeNoSenseAreRefused) {
  add_policy(test);
  const auto yaml = test.write();
  const auto refusal = [&](const RuntimeOptions& options) {
    return message_of([&] { InferenceManager bad(yaml, options); });
  };
  EXPECT_EQ(refusal({.engine = {.threads = -3}}),
            "options: threads must be at least 1, or 0 to let the engine decide, not -3 [LP619]");
  EXPECT_EQ(refusal({.nodes = {{"pre", {.threads = 2, .affinity = {0, 1, 2}}}}}),
            "options of node 'pre': affinity names 3 processors; with threads = 2 it must name one "
            "for each thread beside the caller's: 1 [LP619]");
  EXPECT_THAT(refusal({.engine = {.threads = 2, .affinity = {100000}}}),
              HasSubstr("affinity names processor 100000; this machine has 0 to "));
  EXPECT_EQ(refusal({.deadline = std::chrono::nanoseconds(-1)}),
            "options: the deadline is negative [LP619]");
  EXPECT_EQ(refusal({.staleness = {{"pre/x", std::chrono::nanoseconds(-1)}}}),
            "options: the staleness limit of pre/x is negative [LP619]");
  InferenceManager manager(yaml);
  EXPECT_EQ(message_of([&] { manager.prepare(-1); }),
            "prepare() cannot run a negative number of ticks [LP003]");
}

TEST_F(InferenceManagerTest, OptionsForUnknownNodesAreRefused) {
  add_policy(test);
  EXPECT_THAT(message_of([&] {
                InferenceManager manager(test.write(), {.nodes = {{"polcy", {}}}});
              }),
              HasSubstr("options name a node 'polcy'"));
}

TEST_F(InferenceManagerTest, DescribesItsSteps) {
  add_policy(test);
  InferenceManager manager(test.write(), {.merge = Merge::kOff});
  const std::vector<std::string> lines = manager.description();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[1], HasSubstr("policy: ONNX Runtime"));
}

TEST_F(InferenceManagerTest, AThousandNodesRun) {
  const int nodes = 1000;
  for (int i = 0; i < nodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    test.node(name, "clamp_sum.onnx", {port("a"), port("b")}, {port("y")});
    test.feedback(name + "/y", name + "/b");
    if (i == 0) {
      test.input("n0/a");
    } else {
      test.wire("n" + std::to_string(i - 1) + "/y", name + "/a");
    }
  }
  test.output("n" + std::to_string(nodes - 1) + "/y");
  InferenceManager manager(test.write());
  const TensorMap in = {{"n0/a", row({0.1f, 0.2f, 0.3f, 0.4f})}};
  EXPECT_THAT(floats(manager.run_policy(in).begin()->second), ElementsAre(0.1f, 0.2f, 0.3f, 0.4f));
}

}  // namespace
}  // namespace leapp
