#include "compile/wires.h"

#include "hand_made.h"

namespace leapp::compile {
namespace {

using session::Node;
using state::State;
using testing::make_node;
using testing::wire;

using Wires = std::vector<Wire>;
using Ports = std::vector<NodePorts>;

// pre -> policy -> drive, in this order.
struct Chain {
  Node pre = make_node(0, "pre", {"obs"}, {"features"});
  Node policy = make_node(1, "policy", {"features", "last"}, {"action", "value"});
  Node drive = make_node(2, "drive", {"action"}, {"torque"});

  Chain() {
    wire(policy.inputs[0], 0, "features");
    wire(drive.inputs[0], 1, "action");
  }
  std::vector<ExportedNode> compiled() const {
    return {describe_only(pre), describe_only(policy), describe_only(drive)};
  }
};

TEST(WiresTest, OutputsFlowToTheInputsThatReceivedThem) {
  const Chain chain;
  const Pipeline pipeline = connect(chain.compiled()).pipeline;
  EXPECT_EQ(pipeline.data_flow, (Wires{{{"policy", "action"}, {{"drive", "action"}}},
                                       {{"pre", "features"}, {{"policy", "features"}}}}));
  EXPECT_TRUE(pipeline.feedback_flow.empty());
  EXPECT_EQ(pipeline.inputs, (Ports{{"policy", {"last"}}, {"pre", {"obs"}}}));
  EXPECT_EQ(pipeline.outputs, (Ports{{"drive", {"torque"}}, {"policy", {"value"}}}));
}

TEST(WiresTest, WhatComesFromALaterNodeIsFeedbackAndStaysAnOutput) {
  Chain chain;
  wire(chain.policy.inputs[1], 2, "torque", 2, 1);
  const Pipeline pipeline = connect(chain.compiled()).pipeline;
  EXPECT_EQ(pipeline.feedback_flow, (Wires{{{"drive", "torque"}, {{"policy", "last"}}}}));
  EXPECT_EQ(pipeline.inputs, (Ports{{"pre", {"obs"}}}));
  EXPECT_EQ(pipeline.outputs, (Ports{{"drive", {"torque"}}, {"policy", {"value"}}}));
}

TEST(WiresTest, WhatAnEarlierNodePutOutInTheTickBeforeIsFeedback) {
  Chain chain;
  wire(chain.policy.inputs[1], 0, "features", 3, 1);
  // The reader received it although the source had already completed a newer one.
  chain.policy.inputs[1].age = {};
  for (int pass = 1; pass < 4; ++pass) chain.policy.inputs[1].age.add({pass, pass - 1, pass + 1});
  const Pipeline pipeline = connect(chain.compiled()).pipeline;
  EXPECT_EQ(pipeline.feedback_flow, (Wires{{{"pre", "features"}, {{"policy", "last"}}}}));
}

TEST(WiresTest, OneOutputMayFeedMany) {
  Chain chain;
  wire(chain.drive.inputs[0], 0, "features");
  const Pipeline pipeline = connect(chain.compiled()).pipeline;
  EXPECT_EQ(pipeline.data_flow,
            (Wires{{{"pre", "features"}, {{"policy", "features"}, {"drive", "action"}}}}));
}

// The policy's input `last` is a state, and the policy outputs `value` for another state.
std::vector<State> states_fed_by(const State::Feed& feed) {
  return {{.slot = {.name = "last"}, .fed_by = feed}, {.slot = {.name = "value"}}};
}

TEST(WiresTest, StateIsNoOutputUnlessItIsOneInItsOwnRight) {
  for (const bool only_state : {true, false}) {
    Chain chain;
    std::vector<ExportedNode> nodes = chain.compiled();
    nodes[1].states.states =
        states_fed_by(only_state ? State::Feed{1, {}, 1} : State::Feed{1, "value", {}});
    const Pipeline pipeline = connect(nodes).pipeline;
    EXPECT_EQ(pipeline.feedback_flow, (Wires{{{"policy", "value"}, {{"policy", "last"}}}}));
    EXPECT_EQ(pipeline.outputs.size(), only_state ? 1U : 2U);
  }
}

TEST(WiresTest, AStateThatNobodyFeedsIsItsOwnSource) {
  Chain chain;
  std::vector<ExportedNode> nodes = chain.compiled();
  nodes[1].states.states = {{.slot = {.name = "last"}}};
  nodes[1].output_names[1] = "last";
  const Pipeline pipeline = connect(nodes).pipeline;
  EXPECT_EQ(pipeline.feedback_flow, (Wires{{{"policy", "value"}, {{"policy", "last"}}}}));
}

TEST(WiresTest, PortsHaveTheNamesOfTheModel) {
  Chain chain;
  std::vector<ExportedNode> nodes = chain.compiled();
  nodes[1].model.inputs[0].name = "features_in";
  EXPECT_EQ(connect(nodes).pipeline.data_flow.back().targets,
            (std::vector<PortRef>{{"policy", "features_in"}}));
}

TEST(WiresTest, WhatAModelLeftOutIsNotWired) {
  Chain chain;
  std::vector<ExportedNode> nodes = chain.compiled();
  nodes[1].model.inputs.erase(nodes[1].model.inputs.begin());
  nodes[1].input_names.erase(nodes[1].input_names.begin());
  nodes.erase(nodes.begin() + 2);
  const Pipeline pipeline = connect(nodes).pipeline;
  EXPECT_TRUE(pipeline.data_flow.empty());
  EXPECT_EQ(pipeline.outputs, (Ports{{"policy", {"action", "value"}}, {"pre", {"features"}}}));
}

// Three ticks late for one input, two for another: the states of the delay come before the inputs
// that they feed.
TEST(WiresTest, AnInputThatLinksDelayIsNotWiredTwice) {
  Chain chain;
  std::vector<ExportedNode> nodes = chain.compiled();
  ExportedNode& drive = nodes[2];
  const auto link = [](const std::string& name, const State::Feed& feed) {
    return State{.origin = State::Origin::kDelayed, .slot = {.name = name}, .fed_by = feed};
  };
  drive.states.states = {link("one", {1, "value", {}}), link("two", {2, {}, 0})};
  drive.states.received = {{"action", 0}};
  for (const std::string name : {"one", "two"}) {
    drive.model.inputs.push_back({name + "_in", DType::kFloat32, {1, 4}, {}});
    drive.model.outputs.push_back({name + "_out", DType::kFloat32, {1, 4}, {}});
    drive.input_names.push_back(name);
    drive.output_names.push_back(name);
  }
  const Pipeline pipeline = connect(nodes).pipeline;
  EXPECT_EQ(pipeline.data_flow.size(), 1U);
  EXPECT_EQ(pipeline.feedback_flow,
            (Wires{{{"drive", "one_out"}, {{"drive", "two_in"}, {"drive", "action"}}},
                   {{"policy", "value"}, {{"drive", "one_in"}}}}));
}

TEST(WiresTest, CountsNodesPortsAndEdges) {
  const Chain chain;
  EXPECT_EQ(
      statistics(connect(chain.compiled())),
      (std::vector<std::string>{"Computation nodes: 3", "Dangling inputs: 2", "Dangling outputs: 2",
                                "Internal connections: 2", "Total edges: 6"}));
}

}  // namespace
}  // namespace leapp::compile
