#include <gmock/gmock.h>

#include "import/formats.h"
#include "policies.h"

namespace leapp::importing {
namespace {

using leapp::testing::error_of;
using leapp::testing::Folder;
using leapp::testing::node;
using leapp::testing::value;
using ::testing::ElementsAre;
using ::testing::StartsWith;

// A model whose inputs are sensor values and whose outputs are targets.
PolicyModel policy() {
  PolicyModel policy;
  policy.opset = 17;
  policy.model.ir_version = 8;
  policy.model.opsets = {{"", 17}};
  for (const auto& [name, size] :
       {std::pair("obj.robot.joints.pos", 2), std::pair("sensor.imu.ang_vel_b_rt_w_in_b", 3),
        std::pair("cmd.se2_velocity.base", 3)}) {
    policy.inputs.push_back(plain_port(name, {1, size}));
    policy.model.graph.inputs.push_back(value(name, {1, std::int64_t{size}}));
  }
  const char* const target = "output.joint_targets.legs.pos";
  policy.outputs = {plain_port(target, {1, 2})};
  policy.model.graph.outputs = {value(target, {1, 2})};
  policy.model.graph.nodes = {node("Tanh", {"obj.robot.joints.pos"}, {target})};
  return policy;
}

class ExployTest : public ::testing::Test {
 protected:
  Bundle draft() {
    Draft draft = draft_exploy(Fields("policy.onnx", metadata_, {}), policy(), notes_);
    return draft.write(folder_.path() / "walker");
  }
  std::string fault() {
    return error_of([&] { draft(); });
  }

  Folder folder_;
  std::vector<std::string> notes_;
  onnx::Properties metadata_ = {
      {"exploy_version", "1"},
      {"update_rate", "50"},
      {"obj.robot.joints", "{\"joint_names\": [\"hip\", \"knee\"]}"},
      {"cmd.se2_velocity.base", "{\"ranges\": {\"lin_vel_x\": [-1, 1]}}"},
      {"output.joint_targets.legs",
       "{\"names\": [\"hip\", \"knee\"], \"stiffness\": [10, 20], \"damping\": [1, 2]}"}};
};

TEST_F(ExployTest, IsKnownByItsVersion) {
  EXPECT_TRUE(is_exploy(Fields("f", {{"exploy_version", "1"}}, {})));
  EXPECT_FALSE(is_exploy(Fields("f", {}, {})));
}

TEST_F(ExployTest, PortsMeanWhatTheirNamesSay) {
  const Bundle bundle = draft();
  const Port& position = *bundle.find_input({"policy", "obj.robot.joints.pos"});
  EXPECT_EQ(position.semantics.kind, "state/joint/position");
  EXPECT_THAT(std::get<std::vector<std::string>>(position.semantics.element_names->back()),
              ElementsAre("hip", "knee"));
  EXPECT_EQ(bundle.find_input({"policy", "sensor.imu.ang_vel_b_rt_w_in_b"})->semantics.kind,
            "state/body/angular_velocity");
  EXPECT_EQ(bundle.find_input({"policy", "cmd.se2_velocity.base"})->semantics.kind,
            "command/body/velocity");
  const GraphContract contract = contract_of(bundle.pipeline);
  EXPECT_EQ(contract.frequency, 50);
  ASSERT_EQ(contract.command_ranges.size(), 1U);
}

TEST_F(ExployTest, GainsComeOutBesideTheTargets) {
  const Bundle bundle = draft();
  ASSERT_EQ(bundle.models.size(), 2U);
  EXPECT_EQ(bundle.models[1].name, "act");
  ASSERT_EQ(bundle.pipeline.outputs.size(), 1U);
  EXPECT_THAT(bundle.pipeline.outputs[0].ports, ElementsAre("joint_pos_target", "kp", "kd"));
}

TEST_F(ExployTest, WhatIsMissingOrWrongIsNamed) {
  const onnx::Properties good = metadata_;
  const std::vector<std::pair<std::size_t, std::pair<std::string, std::string>>> bad = {
      {2, {"{}", "LP822"}},
      {2, {"[]", "LP823"}},
      {2, {"{\"joint_names\": [1, 2]}", "LP823"}},
      {2, {"{\"joint_names\": [\"hip\"]}", "LP823"}},
      {3, {"{\"ranges\": {\"lin_vel_x\": [1, -1]}}", "LP823"}},
      {4, {"{\"names\": [\"hip\", \"knee\"]}", "LP822"}},
      {4,
       {"{\"names\": [\"hip\", \"knee\"], \"stiffness\": [1e39, 1], \"damping\": [1, 2]}",
        "LP823"}}};
  for (const auto& [index, change] : bad) {
    metadata_ = good;
    metadata_[index].second = change.first;
    EXPECT_THAT(fault(), StartsWith(change.second)) << change.first;
  }
}

TEST_F(ExployTest, AMissingRateIsANote) {
  metadata_.erase(metadata_.begin() + 1);
  EXPECT_EQ(contract_of(draft().pipeline).frequency, std::nullopt);
  EXPECT_EQ(notes_.size(), 1U);
}

}  // namespace
}  // namespace leapp::importing
