// Selection of the states that a model needs, by data flow.
#include "compile/state_choice.h"

#include <gtest/gtest.h>

namespace leapp::compile {
namespace {

using Origin = state::State::Origin;

const ir::TensorType kPair{DType::kFloat32, {2}};

ir::ValueId op(ir::Graph& graph, std::vector<ir::ValueId> inputs) {
  ir::Signature signature{"aten::f", "", {}, {"Tensor"}};
  ir::Op made;
  for (const ir::ValueId id : inputs) {
    signature.parameters.push_back({"x", "Tensor"});
    made.arguments.emplace_back(ir::ValueRef{id});
  }
  made.signature = std::make_shared<const ir::Signature>(std::move(signature));
  const ir::ValueId result = graph.add_result(kPair);
  made.results = {{false, {result}}};
  graph.append(std::move(made));
  return result;
}

// Returns a node with an input x, an output y and one state h.
struct OneState {
  OneState(Origin origin, bool y_reads_h, bool update_reads_h) {
    const ir::ValueId x = purified.graph.add_input("x", kPair);
    const ir::ValueId h = purified.graph.add_input("h", kPair);
    purified.before = {h};
    purified.outputs = {y_reads_h ? op(purified.graph, {x, h}) : op(purified.graph, {x})};
    purified.after = {update_reads_h ? op(purified.graph, {h}) : op(purified.graph, {x})};
    node.passes.resize(1);
    node.passes[0].recording.inputs = {{"x", 0}};
    node.passes[0].recording.outputs = {{"y", 2}};
    states.node = &node;
    states.states = {{.origin = origin, .slot = {.name = "h", .before = 1, .after = 3}}};
  }
  session::Node node;
  state::NodeStates states;
  trace::Purified purified;
};

TEST(StateChoiceTest, WhatTheFormerValueReaches) {
  const struct {
    const char* node;
    Origin origin;
    bool y_reads_h, update_reads_h, wanted;
    bool in, out;
  } table[] = {
      {"a filter", Origin::kWritten, true, true, false, true, true},
      {"the last observation", Origin::kWritten, true, false, false, true, true},
      {"a scratch buffer", Origin::kWritten, false, false, false, false, false},
      {"a count nobody reads", Origin::kWritten, false, true, false, false, false},
      {"a scratch buffer another node reads", Origin::kWritten, false, false, true, false, true},
      {"a count another node reads", Origin::kWritten, false, true, true, true, true},
      {"a declared count", Origin::kDeclared, false, true, false, true, true},
      {"a declared scratch buffer", Origin::kDeclared, false, false, false, false, false},
      {"state_tensors, overwritten", Origin::kExplicit, false, false, false, true, true},
  };
  for (const auto& line : table) {
    const OneState made(line.origin, line.y_reads_h, line.update_reads_h);
    const StateChoice choice = choose_states(made.states.states, made.purified, {line.wanted});
    EXPECT_EQ(choice.in, std::vector<bool>{line.in}) << line.node;
    EXPECT_EQ(choice.out, std::vector<bool>{line.out}) << line.node;
  }
}

TEST(StateChoiceTest, ClosingAddsPortsAndDropsInputsThatReachNothing) {
  OneState made(Origin::kWritten, true, true);
  const ir::ValueId x = made.purified.graph.inputs()[0];
  made.purified.outputs = {op(made.purified.graph, {made.purified.before[0]})};
  const StateChoice choice{{true}, {true}};
  close_graph(made.states, choice, made.purified);
  EXPECT_EQ(made.purified.graph.inputs(), made.purified.before);
  ASSERT_EQ(made.purified.graph.outputs().size(), 2U);
  EXPECT_EQ(made.purified.graph.outputs()[0].name, "y");
  EXPECT_EQ(made.purified.graph.outputs()[1].name, "h");
  EXPECT_EQ(made.purified.graph.outputs()[1].value, made.purified.after[0]);
  EXPECT_EQ(made.purified.graph.value(x).kind, ir::ValueKind::kInput);
}

}  // namespace
}  // namespace leapp::compile
