// What becomes of a node's output on its way to the next node.
#include "tracing.h"

namespace leapp {
namespace {

using at::Tensor;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class BetweenNodesTest : public testing::Tracing {
 protected:
  // Whether "b" is wired to "a" when its input comes from there by that way.
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

TEST_F(BetweenNodesTest, OtherOperatorsAreAGap) {
  const std::pair<const char*, Tensor (*)(Tensor)> table[] = {
      {"add", [](Tensor y) { return y + 1; }},
      {"add_", [](Tensor y) { return y.add_(1); }},
      {"another type and back", [](Tensor y) { return y.to(at::kDouble).to(at::kFloat); }},
      {"one element written",
       [](Tensor y) {
         y[0] = 0;
         return y;
       }},
  };
  for (const auto& [name, way] : table) {
    EXPECT_FALSE(is_wired(way)) << name;
    EXPECT_THAT(codes(), ElementsAre(Code::kUntracedCompute)) << name;
    end();
  }
}

TEST_F(BetweenNodesTest, AnOutputThatIsOverwrittenIsGone) {
  EXPECT_FALSE(is_wired([](Tensor y) { return y.copy_(at::zeros({2})); }));
  EXPECT_THAT(codes(), IsEmpty());
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
