#include "import/policy_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

namespace leapp::importing {
namespace {

using leapp::testing::error_of;
using leapp::testing::Folder;
using leapp::testing::node;
using leapp::testing::tracking_model;
using leapp::testing::value;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(PolicyModelTest, OpenDimensionsAreOneRobot) {
  const Folder folder;
  const PolicyModel policy = read_policy(folder.write(tracking_model(4)));
  EXPECT_EQ(observation_of(policy).shape, (Shape{1, 4}));
  EXPECT_EQ(action_of(policy).name, "actions");
  EXPECT_EQ(policy.opset, 17);
}

TEST(PolicyModelTest, APartHasWhatItsOutputsNeedAndNoMore) {
  const Folder folder;
  const PolicyModel policy = read_policy(folder.write(tracking_model(4)));
  const Part motion = part_of(policy, "motion", {"joint_pos"});
  ASSERT_THAT(motion.node.inputs, SizeIs(1));
  EXPECT_EQ(motion.node.inputs[0].name, "time_step");
  EXPECT_THAT(motion.model.graph.nodes, SizeIs(1));
  const Part actor = part_of(policy, "policy", {"actions"});
  ASSERT_THAT(actor.node.inputs, SizeIs(1));
  EXPECT_EQ(actor.node.inputs[0].name, "obs");
}

TEST(PolicyModelTest, PairsOfNamesAreMemory) {
  onnx::Model model = tracking_model(4);
  model.graph.inputs.push_back(value("h_in", {1, 2}));
  model.graph.outputs.push_back(value("h_out", {1, 2}));
  model.graph.inputs.push_back(value("memory.filter.in", {1, 2}));
  model.graph.outputs.push_back(value("memory.filter.out", {1, 2}));
  model.graph.inputs.push_back(value("c_in", {1, 2}));
  model.graph.outputs.push_back(value("c_out", {1, 3}));  // a different shape, so a different value
  const Folder folder;
  const auto recurrent = read_policy(folder.write(model)).recurrent();
  ASSERT_THAT(recurrent, SizeIs(2));
  EXPECT_EQ(recurrent[0].output, "h_out");
  EXPECT_EQ(recurrent[1].output, "memory.filter.out");
}

TEST(PolicyModelTest, ModelsThatCannotBeImportedSayWhy) {
  const Folder folder;
  onnx::Model model = tracking_model(4);
  model.graph.inputs[0].name = "a";
  model.graph.inputs.push_back(value("b", {1, 2}));
  const PolicyModel two = read_policy(folder.write(model));
  EXPECT_THAT(error_of([&] { observation_of(two); }), HasSubstr("Its inputs are: a, time_step, b"));
  model = tracking_model(4);
  model.opsets = {{"", 11}};
  EXPECT_THAT(error_of([&] { read_policy(folder.write(model)); }), HasSubstr("opset 11"));
  model = tracking_model(4);
  model.graph.inputs[0].shape.reset();
  EXPECT_THAT(error_of([&] { read_policy(folder.write(model)); }), HasSubstr("has no shape"));
  model = tracking_model(std::int64_t{1} << 40);
  EXPECT_THAT(error_of([&] { read_policy(folder.write(model)); }), HasSubstr("too large"));
}

}  // namespace
}  // namespace leapp::importing
