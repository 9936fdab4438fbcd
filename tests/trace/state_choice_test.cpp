// Which candidates are state, by what reaches what.
#include "trace/state_choice.h"

#include <gtest/gtest.h>

namespace leapp::trace {
namespace {

using Kind = StateCandidate::Kind;

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

// A node with an input x, an output y and one candidate h.
struct OneState {
  OneState(Kind kind, bool y_reads_h, bool update_reads_h) {
    const ir::ValueId x = purified.graph.add_input("x", kPair);
    const ir::ValueId h = purified.graph.add_input("h", kPair);
    purified.before = {h};
    purified.outputs = {y_reads_h ? op(purified.graph, {x, h}) : op(purified.graph, {x})};
    purified.after = {update_reads_h ? op(purified.graph, {h}) : op(purified.graph, {x})};
    recording.inputs = {{"x", 0}};
    recording.outputs = {{"y", 2}};
    recording.states = {{.kind = kind, .name = "h", .before = 1, .after = 3}};
  }
  Recording recording;
  Purified purified;
};

TEST(StateChoiceTest, WhatTheFormerValueReaches) {
  const struct {
    const char* node;
    Kind kind;
    bool y_reads_h, update_reads_h, wanted;
    bool in, out;
  } table[] = {
      {"a filter", Kind::kFound, true, true, false, true, true},
      {"the last observation", Kind::kFound, true, false, false, true, true},
      {"a scratch buffer", Kind::kFound, false, false, false, false, false},
      {"a count nobody reads", Kind::kFound, false, true, false, false, false},
      {"a scratch buffer another node reads", Kind::kFound, false, false, true, false, true},
      {"a count another node reads", Kind::kFound, false, true, true, true, true},
      {"a declared count", Kind::kDeclared, false, true, false, true, true},
      {"a declared scratch buffer", Kind::kDeclared, false, false, false, false, false},
      {"state_tensors, overwritten", Kind::kExplicit, false, false, false, true, true},
  };
  for (const auto& line : table) {
    const OneState made(line.kind, line.y_reads_h, line.update_reads_h);
    const StateChoice choice = choose_states(made.recording, made.purified, {line.wanted});
    EXPECT_EQ(choice.in, std::vector<bool>{line.in}) << line.node;
    EXPECT_EQ(choice.out, std::vector<bool>{line.out}) << line.node;
  }
}

TEST(StateChoiceTest, ClosingAddsPortsAndDropsInputsThatReachNothing) {
  OneState made(Kind::kFound, true, true);
  const ir::ValueId x = made.purified.graph.inputs()[0];
  made.purified.outputs = {op(made.purified.graph, {made.purified.before[0]})};
  const StateChoice choice{{true}, {true}};
  EXPECT_EQ(close_graph(made.recording, choice, made.purified), std::vector<bool>{false});
  EXPECT_EQ(made.purified.graph.inputs(), made.purified.before);
  ASSERT_EQ(made.purified.graph.outputs().size(), 2U);
  EXPECT_EQ(made.purified.graph.outputs()[0].name, "y");
  EXPECT_EQ(made.purified.graph.outputs()[1].name, "h");
  EXPECT_EQ(made.purified.graph.outputs()[1].value, made.purified.after[0]);
  EXPECT_EQ(made.purified.graph.value(x).kind, ir::ValueKind::kInput);
}

}  // namespace
}  // namespace leapp::trace
