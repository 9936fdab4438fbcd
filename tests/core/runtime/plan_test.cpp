#include "runtime/plan.h"

#include <gmock/gmock.h>

#include "test_bundle.h"

namespace leapp {
namespace {

using ::testing::ElementsAre;
using namespace leapp::testing;

std::vector<std::vector<std::size_t>> one_by_one(const Bundle& bundle) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t model : execution_order(bundle)) groups.push_back({model});
  return groups;
}

TEST(PlanTest, ConsumersReadWhereTheProducerWrites) {
  TestBundle test;
  add_policy(test);
  const Plan plan = make_plan(test.bundle(), one_by_one(test.bundle()));
  EXPECT_EQ(plan.inputs.at("policy/x").value, plan.outputs.at("pre/y").value);
  EXPECT_FALSE(plan.values[plan.outputs.at("pre/y").value].doubled);
  EXPECT_EQ(plan.values.size(), 5u);  // pre/x, pre/y, policy/y, policy/h_out, post/y
  EXPECT_THAT(plan.external_inputs, ElementsAre("pre/x"));
  EXPECT_THAT(plan.external_outputs, ElementsAre("post/y"));
  EXPECT_THAT(plan.feedback_inputs, ElementsAre("policy/h_in", "post/b"));
}

TEST(PlanTest, FeedbackReadsTheOtherHalf) {
  TestBundle test;
  add_policy(test);
  const Plan plan = make_plan(test.bundle(), one_by_one(test.bundle()));
  const Access& in = plan.inputs.at("policy/h_in");
  EXPECT_EQ(in.value, plan.outputs.at("policy/h_out").value);
  EXPECT_TRUE(in.last_tick);
  EXPECT_TRUE(plan.values[in.value].doubled);
}

TEST(PlanTest, FurtherTargetsOfAFeedbackKeepAValueOfTheirOwn) {
  TestBundle test;
  test.node("policy", "recurrent.onnx", {port("x"), port("h_in")}, {port("y"), port("h_out")})
      .feedback("policy/h_out", "policy/x")
      .feedback("policy/h_out", "policy/h_in")
      .output("policy/y");
  const Plan plan = make_plan(test.bundle(), one_by_one(test.bundle()));
  EXPECT_TRUE(plan.inputs.at("policy/x").last_tick);
  EXPECT_TRUE(plan.inputs.at("policy/h_in").last_tick);
  EXPECT_NE(plan.inputs.at("policy/h_in").value, plan.inputs.at("policy/x").value);
  ASSERT_EQ(plan.copies.size(), 1u);
  EXPECT_EQ(plan.copies[0].from, plan.outputs.at("policy/h_out").value);
  EXPECT_EQ(plan.copies[0].to, plan.inputs.at("policy/h_in").value);
}

TEST(PlanTest, MergedStepKeepsOnlyWhatCrossesItsBorder) {
  TestBundle test;
  add_policy(test);
  const Plan plan = make_plan(test.bundle(), {{0, 1, 2}});
  ASSERT_EQ(plan.steps.size(), 1u);
  const PlannedStep& step = plan.steps[0];
  EXPECT_EQ(step.model.name, "pre+policy+post");
  std::vector<std::string> inputs;
  for (const Port& p : step.model.inputs) inputs.push_back(p.name);
  std::vector<std::string> outputs;
  for (const Port& p : step.model.outputs) outputs.push_back(p.name);
  EXPECT_THAT(inputs, ElementsAre("pre/x", "policy/h_in", "post/b"));
  EXPECT_THAT(outputs, ElementsAre("policy/h_out", "post/y"));
  EXPECT_FALSE(plan.outputs.contains("pre/y"));
}

TEST(PlanTest, PortsAreAlsoFoundAsAnnotated) {
  TestBundle test;
  add_policy(test);
  const Plan plan = make_plan(test.bundle(), one_by_one(test.bundle()));
  EXPECT_EQ(find_port(plan.inputs, "policy/h", "_in"), &plan.inputs.at("policy/h_in"));
  EXPECT_EQ(find_port(plan.outputs, "policy/h", "_out"), &plan.outputs.at("policy/h_out"));
  EXPECT_EQ(find_port(plan.inputs, "policy/g", "_in"), nullptr);
}

}  // namespace
}  // namespace leapp
