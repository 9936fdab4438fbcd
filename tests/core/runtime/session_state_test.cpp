// The state of a manager: initial values, setting, saving and restoring it.
#include <gmock/gmock.h>

#include "leapp/inference_manager.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using namespace leapp::testing;

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

TEST_F(InferenceManagerTest, TheStateIsResetAlone) {
  add_policy(test);
  test.initial("policy/h_in", row({4, 4, 4, 4}));
  InferenceManager manager(test.write(), {.merge = Merge::kOff});
  manager.set_input(manager.input_port("pre/x"), row({0, 0, 0, 0})).value();
  const auto tick = [&] {
    manager.tick().value();
    return floats(manager.value("policy", "y"))[0];
  };
  EXPECT_EQ(tick(), 5);
  EXPECT_NE(tick(), 5);
  manager.reset_state().value();
  EXPECT_EQ(tick(), 5);  // with the same input as before
  const InferenceManager moved = std::move(manager);
  EXPECT_EQ(manager.reset_state().failure().code(), Code::kUsage);
}

TEST_F(InferenceManagerTest, SetInputValueOverridesTheStateOnce) {
  add_policy(test);
  InferenceManager manager(test.write());
  const TensorMap obs = {{"pre/x", row({-0.5, -0.5, -0.5, -0.5})}};  // 2 obs + 1 = 0
  manager.set_input_value("policy", "h_in", row({8, 4, 2, 0}).view());
  manager.run_policy(obs);
  EXPECT_THAT(floats(manager.state().at("policy/h_in")), ElementsAre(4, 2, 1, 0));
  // The annotated name works too.
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

TEST_F(InferenceManagerTest, UndoTakesTheLastTickBack) {
  add_policy(test);
  InferenceManager manager(test.write());
  const TensorMap obs = {{"pre/x", row({0.1f, -0.2f, 0.3f, -0.9f})}};
  manager.undo_tick().value();  // none so far
  manager.run_policy(obs);
  const TensorMap saved = manager.state();
  const TensorMap first = manager.run_policy(obs);
  manager.undo_tick().value();
  EXPECT_EQ(manager.state(), saved);
  manager.undo_tick().value();  // already undone
  EXPECT_EQ(manager.state(), saved);
  EXPECT_EQ(manager.run_policy(obs), first);
  manager.set_state(saved);
  manager.undo_tick().value();  // the state was set since
  EXPECT_EQ(manager.state(), saved);
}

TEST_F(InferenceManagerTest, AFailedTickLeavesNothingToUndo) {
  test.node("policy", "recurrent.onnx", {port("x"), port("h_in")}, {port("y"), port("h_out")})
      .feedback("policy/h_out", "policy/h_in")
      .input("policy/x")
      .output("policy/y");
  InferenceManager manager(test.write(), {.finite = {.state = true}});
  manager.run_policy({{"policy/x", row({1, 1, 1, 1})}});
  manager.run_policy({{"policy/x", row({2, 2, 2, 2})}});
  const TensorMap saved = manager.state();
  EXPECT_THROW(manager.run_policy({{"policy/x", row({INFINITY, 1, 1, 1})}}), Error);
  EXPECT_EQ(manager.state(), saved);
  manager.undo_tick().value();
  EXPECT_EQ(manager.state(), saved);
}

TEST_F(InferenceManagerTest, UndoTakesCopiesBackAsWell) {
  test.node("policy", "recurrent.onnx", {port("x"), port("h_in")}, {port("y"), port("h_out")})
      .feedback("policy/h_out", "policy/x")
      .feedback("policy/h_out", "policy/h_in")
      .output("policy/y")
      .initial("policy/x", row({8, 8, 8, 8}));
  InferenceManager manager(test.write());
  manager.run_policy({});
  manager.set_input_value("policy", "h", row({2, 2, 2, 2}).view());
  const TensorMap saved = manager.state();
  const TensorMap outputs = manager.run_policy({});
  manager.undo_tick().value();
  EXPECT_EQ(manager.state(), saved);
  EXPECT_EQ(manager.run_policy({}), outputs);
}

TEST_F(InferenceManagerTest, SaysWhetherTheStateIsFinite) {
  add_policy(test);
  InferenceManager manager(test.write());
  EXPECT_TRUE(manager.is_state_finite());
  const float infinity = std::numeric_limits<float>::infinity();
  manager.set_input_value("policy", "h_in", row({0, 0, infinity, 0}).view());
  EXPECT_FALSE(manager.is_state_finite());
}

TEST_F(InferenceManagerTest, WrongStateIsRefusedAsAWhole) {
  add_policy(test);
  InferenceManager manager(test.write());
  const TensorMap saved = manager.state();
  TensorMap incomplete = saved;
  incomplete.erase("post/b");
  incomplete.at("policy/h_in") = row({1, 1, 1, 1});
  EXPECT_THAT(message_of([&] { manager.set_state(incomplete); }),
              ::testing::AllOf(::testing::HasSubstr("post/b"), ::testing::HasSubstr("policy/h_in"),
                               ::testing::EndsWith("[LP604]")));
  TensorMap more = saved;
  more.emplace("post/c", row({1, 1, 1, 1}));
  EXPECT_THAT(message_of([&] { manager.set_state(more); }),
              ::testing::AllOf(::testing::HasSubstr("post/c"), ::testing::HasSubstr("policy/h_in"),
                               ::testing::HasSubstr("post/b"), ::testing::EndsWith("[LP601]")));
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
  const Result<void> result = manager.tick();  // its mock input must not count as a set input
  EXPECT_THAT(result.failure().message(),
              ::testing::AllOf(::testing::HasSubstr("pre/x"), ::testing::EndsWith("[LP604]")));
}

}  // namespace
}  // namespace leapp
