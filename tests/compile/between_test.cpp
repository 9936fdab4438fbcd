#include "compile/between.h"

#include "../session/tracing.h"

namespace leapp::compile {
namespace {

using at::Tensor;
using session::NodePort;
using session::Pass;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BetweenTest : public leapp::testing::Tracing {
 protected:
  void SetUp() override {
    Tracing::SetUp();
    begin();
  }
  // The resulting nodes, and the one message.
  std::map<NodeId, Node> take() {
    end();
    state::Findings findings;
    auto changed = take_between(session::Session::instance().nodes(), findings);
    said_ = findings.empty() ? Diagnostic{} : findings.front();
    return changed;
  }
  static NodeId id(const std::string& name) { return node(name).id; }

  Diagnostic said_;
};

TEST_F(BetweenTest, NothingBetweenChangesNothing) {
  out("b", in("b", pass("a")));
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(BetweenTest, TheNodeBeforePutsOutWhatTheNextReceives) {
  for (int i = 0; i < 2; ++i) out("b", in("b", (pass("a") + 1).clamp_(0, 2.5)) * 3);
  const auto changed = take();
  const Node& a = changed.at(id("a"));
  ASSERT_EQ(a.outputs.size(), 2U);
  EXPECT_EQ(a.outputs[1].name, "x_1");  // it has an input for the name that "b" used
  EXPECT_TRUE(a.outputs[1].is_between);
  for (const session::Pass& each : a.passes) {
    EXPECT_TRUE(at::equal(each.outputs.at(0), at::full({2}, 2.0F)));
    EXPECT_TRUE(at::equal(each.outputs.at(1), at::full({2}, 2.5F)));
    EXPECT_EQ(each.recording.outputs.size(), 2U);
  }
  const session::NodePort& x = changed.at(id("b")).inputs.at(0);
  EXPECT_EQ(x.source, (session::PortId{a.id, "x_1"}));
  EXPECT_EQ(x.age.distance(), 0);
  EXPECT_EQ(said_.level, LogLevel::kInfo);
  EXPECT_EQ(node("a").outputs.size(), 1U);  // the records do not change
}

TEST_F(BetweenTest, FeedbackBeginsWithWhatTheFirstPassReceived) {
  Tensor fed = at::ones({2});
  for (int i = 0; i < 3; ++i) fed = out("n", in("n", fed) + 1) * 0.5;
  const auto changed = take();
  const Node& n = changed.at(id("n"));
  EXPECT_EQ(n.inputs[0].source, (session::PortId{n.id, "x_1"}));
  EXPECT_EQ(n.inputs[0].age.first().pass, 1);
  EXPECT_EQ(n.inputs[0].age.distance(), 1);
  EXPECT_TRUE(at::equal(n.passes[2].outputs[1], at::full({2}, 1.0F)));
}

TEST_F(BetweenTest, OutputsOfSeveralNodesMeetInTheLastOfThem) {
  for (int i = 0; i < 2; ++i) {
    const Tensor a = pass("a");
    const Tensor b = pass("b");
    out("c", in("c", at::cat({a, b}), "ab"));
  }
  const auto changed = take();
  const Node& b = changed.at(id("b"));
  ASSERT_EQ(b.inputs.size(), 2U);
  EXPECT_EQ(b.inputs[1].source, (session::PortId{id("a"), "y"}));
  EXPECT_EQ(b.passes[1].recording.inputs[1].name, b.inputs[1].name);
  EXPECT_EQ(b.outputs[1].name, "ab");
  EXPECT_EQ(b.outputs[1].shape, (Shape{4}));
  EXPECT_EQ(changed.count(id("a")), 0U);
}

TEST_F(BetweenTest, TwoReadersOfOneValueShareAnOutput) {
  const Tensor way = pass("a") + 1;
  out("b", in("b", way, "half"));
  out("c", in("c", way, "other"));
  const auto changed = take();
  EXPECT_EQ(changed.at(id("a")).outputs.size(), 2U);
  EXPECT_EQ(changed.at(id("c")).inputs[0].source, (session::PortId{id("a"), "half"}));
}

TEST_F(BetweenTest, ConstantsAreSaidAndNeedTwoPasses) {
  const Tensor scale = at::full({2}, 3.0F);
  for (int i = 0; i < 2; ++i) out("b", in("b", pass("a") * scale));
  EXPECT_EQ(take().size(), 2U);
  EXPECT_EQ(said_.level, LogLevel::kWarning);
  EXPECT_THAT(said_.text, HasSubstr("as constants"));
  begin();
  out("b", in("b", pass("a") * scale));
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_THAT(said_.text, HasSubstr("trace another pass"));
}

TEST_F(BetweenTest, WhatMayBeTheWorldStaysOutside) {
  const struct {
    const char* name;
    void (*run)();
    const char* why;
  } table[] = {
      {"a constant that changes",
       [] {
         for (int i = 0; i < 2; ++i) out("b", in("b", pass("a") * at::full({2}, i)));
       },
       "in pass 2 of node 'b' its result differs"},
      {"a choice",
       [] {
         for (int i = 0; i < 2; ++i) out("b", in("b", i == 0 ? pass("a") + 1 : pass("a") - 1));
       },
       "in pass 2 of node 'b' its result differs"},
      {"a simulator",
       [] {
         Tensor x = at::ones({2});
         for (int i = 0; i < 3; ++i) x = x + out("b", in("b", x) * 2);
       },
       "one pass"},
      {"a part that is written",
       [] {
         const Tensor y = pass("a");
         y[0] = 1;
         out("b", in("b", y));
       },
       "writes to part of a tensor"},
  };
  for (const auto& line : table) {
    if (!is_active()) begin();
    line.run();
    EXPECT_THAT(take(), IsEmpty()) << line.name;
    EXPECT_EQ(said_.code, Code::kUntracedCompute) << line.name;
    EXPECT_EQ(said_.level, LogLevel::kWarning) << line.name;
  }
}

TEST_F(BetweenTest, WhatIsReadUndeclaredHasASource) {
  Tensor kept = at::ones({2});
  for (int i = 0; i < 3; ++i) {
    out("b", in("b", at::ones({2})) + kept);
    kept = pass("a") * 0.5;
  }
  const auto changed = take();
  EXPECT_TRUE(changed.at(id("a")).outputs.at(1).is_between);
  const Node& b = changed.at(id("b"));
  const session::OutsideRead& read = b.passes[2].outside.at(0);
  EXPECT_EQ(read.source, (session::PortId{id("a"), changed.at(id("a")).outputs[1].name}));
  EXPECT_EQ(read.source_pass, 1);
  EXPECT_EQ(said_.level, LogLevel::kInfo);
}

TEST_F(BetweenTest, WhatIsReadUndeclaredInTheSameTickTakesNothing) {
  for (int i = 0; i < 2; ++i) {
    const Tensor made = pass("a") * 0.5;
    out("b", in("b", at::ones({2})) + made);
  }
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_EQ(said_.text, "");  // differing passes are reported
}

TEST_F(BetweenTest, ANodeWithoutAGraphTakesNothing) {
  const Tensor y = annotate::output_tensors("a", {{"y", in("a", at::ones({2})) * 2}})[0];
  out("b", in("b", y + 1));
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_EQ(said_.code, Code::kUntracedCompute);
  EXPECT_EQ(said_.level, LogLevel::kWarning);
}

}  // namespace
}  // namespace leapp::compile
