#include "build/policy_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leapp {
namespace {

using testing::HasSubstr;

// Two nodes; the action of the second one is fed back to the first one.
Bundle walker() {
  Bundle bundle;
  bundle.file = "walker-2.yaml";
  Model arm;
  arm.name = "left arm";
  arm.inputs = {{"q", DType::kFloat64, {8}, {}}, {"last", DType::kFloat32, {1, 4}, {}}};
  arm.outputs = {{"obs", DType::kFloat32, {12}, {}}};
  Model policy;
  policy.name = "policy";
  policy.inputs = {{"obs", DType::kFloat32, {12}, {}}};
  policy.outputs = {{"action", DType::kFloat32, {1, 4}, {}}};
  bundle.models = {arm, policy};
  bundle.pipeline.data_flow = {{{"left arm", "obs"}, {{"policy", "obs"}}}};
  bundle.pipeline.feedback_flow = {{{"policy", "action"}, {{"left arm", "last"}}}};
  bundle.pipeline.inputs = {{"left arm", {"q"}}};
  bundle.pipeline.outputs = {{"policy", {"action"}}};
  return bundle;
}

TEST(PolicyText, PortsAreTypedSpans) {
  const Bundle bundle = walker();
  const SafeTensors none;
  const std::string header = PolicyText(bundle, none).header();
  EXPECT_THAT(header, HasSubstr("namespace walker_2_policy {"));
  EXPECT_THAT(header, HasSubstr("std::span<double, 8> left_arm_q() noexcept;"));
  EXPECT_THAT(header, HasSubstr("std::span<const float, 4> policy_action() const noexcept;"));
}

TEST(PolicyText, StateIsHandedOnWhenAllNodesRan) {
  const Bundle bundle = walker();
  const SafeTensors none;
  const std::string policy = PolicyText(bundle, none).policy();
  const std::size_t last_node = policy.rfind("run(1, inputs, outputs)");
  const std::size_t copy =
      policy.find("std::memcpy(buffers.left_arm_last, buffers.policy_action, ");
  ASSERT_NE(last_node, std::string::npos);
  ASSERT_NE(copy, std::string::npos);
  EXPECT_LT(last_node, copy);
}

TEST(PolicyText, NamesThatDifferInSignsAloneAreToldApart) {
  Bundle bundle = walker();
  bundle.models[0].inputs.push_back({"q!", DType::kFloat32, {2}, {}});
  bundle.models[0].inputs.push_back({"q?", DType::kFloat32, {3}, {}});
  bundle.pipeline.inputs = {{"left arm", {"q", "q!", "q?"}}};
  const SafeTensors none;
  const std::string header = PolicyText(bundle, none).header();
  EXPECT_THAT(header, HasSubstr("std::span<float, 2> left_arm_q_()"));
  EXPECT_THAT(header, HasSubstr("std::span<float, 3> left_arm_q__1()"));
}

TEST(PolicyText, KeywordsAreNoNames) {
  Bundle bundle = walker();
  bundle.file = "class.yaml";
  bundle.models[0].name = "static";
  bundle.models[0].inputs[0].name = "cast";
  bundle.pipeline.data_flow[0].source.node = "static";
  bundle.pipeline.feedback_flow[0].targets[0].node = "static";
  bundle.pipeline.inputs = {{"static", {"cast"}}};
  const SafeTensors none;
  const std::string header = PolicyText(bundle, none).header();
  EXPECT_THAT(header, HasSubstr("namespace class_policy {"));
  EXPECT_THAT(header, HasSubstr("std::span<double, 8> static_cast_1() noexcept;"));
}

TEST(PolicyText, IsTheSameEachTime) {
  const Bundle bundle = walker();
  const SafeTensors none;
  EXPECT_EQ(PolicyText(bundle, none).policy(), PolicyText(bundle, none).policy());
  EXPECT_EQ(PolicyText(bundle, none).nodes(), PolicyText(bundle, none).nodes());
}

}  // namespace
}  // namespace leapp
