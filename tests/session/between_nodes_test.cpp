// The wire of a node's output that is changed on its way to the next node.
#include "tracing.h"

namespace leapp {
namespace {

using at::Tensor;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class BetweenNodesTest : public testing::Tracing {
 protected:
  // Returns whether "b" is wired to "a" if its input is computed in that way.
  bool is_wired(Tensor (*way)(Tensor)) {
    begin();
    const Tensor y = pass("a");
    out("b", in("b", way(y)) * 3);
    const auto& source = node("b").inputs.at(0).source;
    return source && *source == session::PortId{node("a").id, "y"};
  }
};

TEST_F(BetweenNodesTest, CopiesOfAnOutputAreThatOutput) {
  const std::pair<const char*, Tensor (*)(Tensor)> table[] = {
      {"itself", [](Tensor y) { return y; }},
      {"clone", [](Tensor y) { return y.clone(); }},
      {"detach", [](Tensor y) { return y.detach(); }},
      {"copy_", [](Tensor y) { return at::empty_like(y).copy_(y); }},
      {"view and back",
       [](Tensor y) {
         return y.view({2, 1}).clone().view({2});
       }},
      {"a copy of a copy", [](Tensor y) { return y.clone().contiguous().clone(); }},
      {"a write to another",
       [](Tensor y) {
         at::zeros({2}).add_(1);
         return y;
       }},
  };
  for (const auto& [name, way] : table) {
    EXPECT_TRUE(is_wired(way)) << name;
    EXPECT_THAT(codes(), IsEmpty()) << name;
    end();
  }
}

TEST_F(BetweenNodesTest, OtherOperatorsAreKept) {
  static const Tensor scale = at::full({2}, 2.0F);
  const struct {
    const char* name;
    Tensor (*way)(Tensor);
    std::size_t calls;
    bool reads_constants;
  } table[] = {
      {"add", [](Tensor y) { return y + 1; }, 1, false},
      {"add_", [](Tensor y) { return y.add_(1); }, 1, false},
      {"two", [](Tensor y) { return (y + 1).neg(); }, 2, false},
      {"a copy of it", [](Tensor y) { return (y + 1).clone(); }, 1, false},
      {"a copy to a buffer", [](Tensor y) { return at::zeros({2}).copy_(y + 1); }, 1, false},
      {"a constant", [](Tensor y) { return y * scale; }, 1, true},
      {"a parameter", [](Tensor y) { return y * scale.clone().requires_grad_(); }, 1, false},
      {"another type and back", [](Tensor y) { return y.to(at::kDouble).to(at::kFloat); }, 2,
       false},
  };
  for (const auto& line : table) {
    EXPECT_FALSE(is_wired(line.way)) << line.name;
    ASSERT_EQ(first_pass("b").between.size(), 1U) << line.name;
    const session::Between& between = first_pass("b").between[0];
    EXPECT_EQ(between.route.port, (session::PortId{node("a").id, "y"})) << line.name;
    ASSERT_NE(between.route.call, nullptr) << line.name;
    EXPECT_EQ(between.route.call->calls, line.calls) << line.name;
    EXPECT_EQ(between.route.call->reads_constants, line.reads_constants) << line.name;
    EXPECT_THAT(codes(), IsEmpty()) << line.name;
    end();
  }
}

TEST_F(BetweenNodesTest, ACallKnowsTheOutputsThatItWorksOn) {
  start({.name = "g", .save_path = folder_.string()});
  const Tensor y = pass("a");
  const Tensor z = pass("c");
  out("b", in("b", (y + 1) * z + y) * 2);
  ASSERT_EQ(first_pass("b").between.size(), 1U);
  EXPECT_THAT(first_pass("b").between[0].route.call->sources,
              ElementsAre(session::PortId{node("a").id, "y"}, session::PortId{node("c").id, "y"}));
}

TEST_F(BetweenNodesTest, WhatCannotBeRepeatedIsNot) {
  static Tensor former;
  const std::pair<const char*, Tensor (*)(Tensor)> table[] = {
      {"a part of a buffer",
       [](Tensor y) {
         const Tensor buffer = at::zeros({2});
         buffer.slice(0, 0, 1).copy_(y.slice(0, 0, 1));
         return buffer;
       }},
      {"one element written",
       [](Tensor y) {
         y[0] = 0;
         return y;
       }},
      {"one element written outside of nodes",
       [](Tensor y) {
         const Tensor x = in("c", at::ones({2}));
         y[0] = 0;
         out("c", x * 2);
         return y;
       }},
      {"a random number", [](Tensor y) { return at::dropout(y, 0.5, true); }},
      {"an input of the node before",
       [](Tensor y) {
         return y + session::Session::instance().nodes()[0]->passes[0].tape().tensor(
                        session::Session::instance().nodes()[0]->passes[0].recording.inputs[0].var);
       }},
      {"a pass before",
       [](Tensor y) {
         former = y;
         return former + pass("a");
       }},
  };
  for (const auto& [name, way] : table) {
    is_wired(way);
    ASSERT_EQ(first_pass("b").between.size(), 1U) << name;
    EXPECT_EQ(first_pass("b").between[0].route.call, nullptr) << name;
    end();
  }
}

TEST_F(BetweenNodesTest, WhatAReenteredNodeComputesIsInsideIt) {
  start({.name = "g", .save_path = folder_.string(), .max_cached_io = 0});
  Tensor inside;
  for (int i = 0; i < 2; ++i) {
    const Tensor x = in("b", pass("a"));
    inside = x + 1;
    out("b", inside * 2);
  }
  // It is not an output of "b", although the input of "b" was an output of "a".
  out("c", in("c", inside) * 2);
  EXPECT_THAT(codes(), ElementsAre(Code::kNotAnOutput));
  EXPECT_THAT(first_pass("c").between, IsEmpty());
}

TEST_F(BetweenNodesTest, WhatWasTakenInIsFollowedAgainOnceTheNodeIsClosed) {
  start({.name = "g", .save_path = folder_.string(), .max_cached_io = 0});
  for (int i = 0; i < 2; ++i) {
    const Tensor y = pass("a");
    const Tensor x = in("b", y);
    out("b", x * 2);
    out("c", in("c", x + 1) * 2);
  }
  ASSERT_EQ(first_pass("c").between.size(), 1U);
  EXPECT_EQ(first_pass("c").between[0].route.port, (session::PortId{node("a").id, "y"}));
  EXPECT_THAT(codes(), IsEmpty());
}

TEST_F(BetweenNodesTest, ABranchIsNamedOnceANodeTakesInWhatDecidedIt) {
  const auto choose = [](Tensor y) { return (y.sum() > 100).item<bool>() ? y * 0 : y; };
  const auto branch = [](Tensor y) { return at::is_nonzero(y.sum() > 100) ? y * 0 : y; };
  EXPECT_TRUE(is_wired(choose));
  EXPECT_THAT(codes(), IsEmpty());
  end();
  EXPECT_TRUE(is_wired(branch));
  EXPECT_THAT(codes(), ElementsAre(Code::kBranch));
  end();
  begin();
  branch(pass("a"));  // after the last pass, the program may do anything with its outputs
  out("b", in("b", at::ones({2})) * 3);
  EXPECT_THAT(codes(), IsEmpty());
}

TEST_F(BetweenNodesTest, AnOutputThatIsOverwrittenIsGone) {
  for (Tensor (*way)(Tensor) :
       {+[](Tensor y) { return y.copy_(at::zeros({2})); }, +[](Tensor y) { return y.zero_(); },
        +[](Tensor y) { return y.fill_(1); }}) {
    EXPECT_FALSE(is_wired(way));
    EXPECT_THAT(first_pass("b").between, IsEmpty());
    EXPECT_THAT(codes(), IsEmpty());
    end();
  }
}

TEST_F(BetweenNodesTest, ALaterWriteLeavesWhatWasRecorded) {
  begin();
  const Tensor weight = at::ones({2});
  out("n", in("n", at::ones({2})) * weight);
  weight.add_(1);
  ASSERT_EQ(first_pass().memory.size(), 1U);
  EXPECT_TRUE(at::equal(first_pass().memory[0].value_before(), at::ones({2})));
}

}  // namespace
}  // namespace leapp
