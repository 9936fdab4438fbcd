// From recorded passes to graphs and ports.
#include "compile/draft.h"

#include "../session/tracing.h"
#include "state/infer.h"

namespace leapp::compile {
namespace {

using at::Tensor;
using session::Backend;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

class DraftTest : public leapp::testing::Tracing {
 protected:
  void SetUp() override {
    Tracing::SetUp();
    begin();
  }
  // Returns the drafts of all nodes, with their states selected.
  std::vector<Draft> draft(Backend backend) {
    stop();
    nodes_ = session::Session::instance().nodes();
    const auto no_path = [](const Tensor&) { return std::string(); };
    state::Inference inference = state::infer_states(nodes_, nodes_, no_path);
    std::vector<Draft> drafts;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      drafts.push_back({std::move(inference.nodes[i]), backend});
      purify(drafts.back(), no_path);
    }
    choose_states(drafts);
    return drafts;
  }
  ExportedNode finish(std::vector<Draft>& drafts, std::size_t index) {
    return compile::finish(drafts[index], nodes_, findings_);
  }
  std::vector<Code> found() const {
    std::vector<Code> codes;
    for (const Diagnostic& each : findings_) codes.push_back(each.code);
    return codes;
  }

  std::vector<const Node*> nodes_;
  state::Findings findings_;
};

TEST_F(DraftTest, HasAGraphWhenItIsTracedAndExported) {
  Node node;
  EXPECT_FALSE(node.has_graph());
  node.export_with = "onnx";
  EXPECT_TRUE(node.has_graph());
  node.traced = false;
  EXPECT_FALSE(node.has_graph());
}

TEST_F(DraftTest, RandomNumbersCountWhereAnOutputDependsOnThem) {
  begin_with(Noise::kModel);
  const Tensor x = in("n", at::full({2}, 0.5));
  out("n", x.bernoulli());
  const Tensor unused = in("m", at::full({2}, 0.5)).bernoulli();
  out("m", in("m", at::ones({2}), "z") * 2);
  std::vector<Draft> drafts = draft(Backend::kTorchScript);
  EXPECT_TRUE(finish(drafts, 0).random);
  EXPECT_THAT(found(), Contains(Code::kRandomInside));
  findings_.clear();
  EXPECT_FALSE(finish(drafts, 1).random);
  EXPECT_THAT(found(), Not(Contains(Code::kRandomInside)));
}

TEST_F(DraftTest, PurifiesWithInputsForPortsAndStates) {
  Tensor sum = at::zeros({2});
  for (int i = 0; i < 2; ++i) {
    sum.add_(in("n", at::ones({2})));
    out("n", sum * 2);
  }
  const Draft made = draft(Backend::kOnnx).at(0);
  EXPECT_EQ(made.pure.graph.inputs().size(), 2U);
  EXPECT_EQ(made.pure.outputs.size(), 1U);
  EXPECT_EQ(made.choice.in, std::vector<bool>{true});
  EXPECT_EQ(made.choice.out, std::vector<bool>{true});
}

TEST_F(DraftTest, NamesConstantsAsTheProgramDoes) {
  const Tensor weight = at::ones({2});
  out("n", in("n", at::ones({2})) * weight);
  stop();
  nodes_ = session::Session::instance().nodes();
  Draft made{{.node = nodes_[0]}, Backend::kOnnx};
  purify(made, [&](const Tensor& tensor) {
    return std::string(tensor.is_alias_of(weight) ? "gain" : "");
  });
  const ir::Graph& graph = made.pure.graph;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const ir::Value& value = graph.value(static_cast<ir::ValueId>(i));
    if (value.kind == ir::ValueKind::kConstant) names.push_back(value.name);
  }
  EXPECT_THAT(names, ElementsAre("gain"));
}

TEST_F(DraftTest, WhatOneNodeReadsAnotherPutsOut) {
  Tensor shared = at::zeros({2});
  for (int i = 0; i < 2; ++i) {
    const Tensor x = in("a", at::ones({2}));
    shared.copy_(x * 2);
    out("a", x + 1);
    out("b", in("b", at::ones({2})) + shared);
  }
  std::vector<Draft> drafts = draft(Backend::kTorchScript);
  EXPECT_EQ(drafts[0].choice.in, std::vector<bool>{false});
  EXPECT_EQ(drafts[0].choice.out, std::vector<bool>{true});
  EXPECT_EQ(drafts[1].choice.in, std::vector<bool>{true});
  const ExportedNode b = finish(drafts, 1);
  ASSERT_EQ(b.states.states.size(), 1U);
  EXPECT_EQ(b.states.states[0].fed_by, (state::State::Feed{drafts[0].node().id, {}, 0}));
}

TEST_F(DraftTest, OnnxHasOneNameForEachPort) {
  for (const Backend backend : {Backend::kOnnx, Backend::kTorchScript}) {
    if (!is_active()) begin();
    Tensor h = at::zeros({2});
    for (int i = 0; i < 2; ++i) {
      const Tensor x = in("n", at::ones({2}));
      const Tensor now = annotate::state_tensors("n", {{"h", h}})[0];
      h = annotate::update_state("n", {{"h", now + x}})[0];
      out("n", h * 2);
    }
    std::vector<Draft> drafts = draft(backend);
    const ExportedNode made = finish(drafts, 0);
    const bool onnx = backend == Backend::kOnnx;
    EXPECT_EQ(made.model.inputs.at(1).name, onnx ? "h_in" : "h");
    EXPECT_EQ(made.model.outputs.at(1).name, onnx ? "h_out" : "h");
    EXPECT_THAT(made.input_names, ElementsAre("x", "h"));
    EXPECT_THAT(made.output_names, ElementsAre("y", "h"));
    EXPECT_THAT(found(), IsEmpty());  // a declared state is not reported
  }
}

TEST_F(DraftTest, AnInputThatReachesNothingIsLeftOut) {
  const Tensor x = annotate::input_tensors("n", {{"x", at::ones({2})}, {"z", at::ones({2})}})[0];
  out("n", x * 2);
  std::vector<Draft> drafts = draft(Backend::kOnnx);
  const ExportedNode made = finish(drafts, 0);
  EXPECT_THAT(made.input_names, ElementsAre("x"));
  EXPECT_THAT(found(), IsEmpty());  // only a compilation of all nodes reports it
}

TEST_F(DraftTest, AStateThatWasFoundIsNamed) {
  Tensor sum = at::zeros({2});
  for (int i = 0; i < 2; ++i) {
    sum.add_(in("n", at::ones({2})));
    out("n", sum * 2);
  }
  std::vector<Draft> drafts = draft(Backend::kOnnx);
  const ExportedNode made = finish(drafts, 0);
  EXPECT_THAT(found(), ElementsAre(Code::kFoundState));
  EXPECT_EQ(made.states.states.size(), 1U);
  EXPECT_TRUE(made.ours);
  EXPECT_EQ(made.output_precisions.size(), made.model.outputs.size());
}

TEST_F(DraftTest, WhatIsOlderThanAWireCarriesIsKept) {
  std::vector<Tensor> past = {at::zeros({2}), at::zeros({2})};
  for (std::size_t i = 0; i < 4; ++i) {
    past.push_back(out("n", in("n", past[i]) + 1));
  }
  std::vector<Draft> drafts = draft(Backend::kOnnx);
  const ExportedNode made = finish(drafts, 0);
  ASSERT_EQ(made.states.states.size(), 1U);
  EXPECT_EQ(made.states.states[0].origin, state::State::Origin::kDelayed);
  EXPECT_EQ(made.states.received, (std::map<std::string, std::size_t>{{"x", 0}}));
  EXPECT_EQ(made.model.inputs.size(), 2U);
  EXPECT_EQ(made.model.outputs.size(), 2U);
}

}  // namespace
}  // namespace leapp::compile
