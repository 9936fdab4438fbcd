#include "session/front_end_interface.h"

#include "tracing.h"

namespace leapp {
namespace {

using at::Tensor;
using testing::code_of;
using ::testing::ElementsAre;

// Answers as the test specifies, and stores its notifications.
struct Recorded : session::FrontEnd {
  void pass_opened(const std::string& node, int pass, bool alone) override {
    calls.push_back("opened " + node + std::to_string(pass) + (alone ? "" : " beside another"));
  }
  std::vector<session::ForeignArray> pass_closing(const std::string& node, bool alone) override {
    calls.push_back("closing " + node + (alone ? "" : " beside another"));
    return foreign;
  }
  bool keeps(const std::vector<std::vector<Tensor>>& sources) override {
    ++questions;
    return sources.size() == 1 && kept.defined() && sources[0].at(0).is_alias_of(kept);
  }
  void rethrow(const Error& error) override {
    thrown.push_back(error.code());
    throw std::domain_error("as the front end likes it");
  }

  std::vector<std::string> calls;
  std::vector<Code> thrown;
  std::vector<session::ForeignArray> foreign;
  Tensor kept;
  int questions = 0;
};

class FrontEndInterfaceTest : public testing::Tracing {
 protected:
  Recorded front_end_;
};

TEST_F(FrontEndInterfaceTest, IsNotifiedOfTwoPasses) {
  begin(&front_end_);
  for (int i = 0; i < 4; ++i) pass();
  stop();
  EXPECT_THAT(front_end_.calls, ElementsAre("opened n1", "closing n", "opened n2", "closing n"));
}

TEST_F(FrontEndInterfaceTest, KnowsWhetherOtherNodesAreOpen) {
  begin(&front_end_);
  in("n", at::ones({2}));
  const Tensor x = in("m", at::ones({2}));
  out("m", x * 2);
  EXPECT_THAT(front_end_.calls,
              ElementsAre("opened n1", "opened m1 beside another", "closing m beside another"));
}

TEST_F(FrontEndInterfaceTest, ReportsArraysOfOtherCode) {
  const Tensor array = at::ones({2});
  front_end_.foreign = {{array, true, "policy.py:41"}};
  begin(&front_end_);
  const Tensor x = in("n", at::ones({2}));
  out("n", x + array);
  ASSERT_EQ(first_pass().baked.size(), 1U);
  EXPECT_TRUE(first_pass().baked[0].foreign->written);
}

TEST_F(FrontEndInterfaceTest, DecidesAboutOutputsThatDependOnNoInput) {
  const Tensor kept = at::ones({2});
  begin(&front_end_);
  in("n", at::ones({2}));
  EXPECT_EQ(code_of([&] { out("n", kept); }), Code::kNotTraced);
  front_end_.kept = kept;
  out("n", kept);
  EXPECT_THAT(node().undecided, ElementsAre("y"));
  EXPECT_EQ(front_end_.questions, 2);
  pass("m");
  EXPECT_EQ(front_end_.questions, 2);
}

TEST_F(FrontEndInterfaceTest, RethrowsErrorsThatComeOutOfOperators) {
  begin(&front_end_);
  const Tensor a = in("a", at::ones({2}));
  const Tensor b = in("b", at::ones({2}));
  EXPECT_THROW(static_cast<void>(a + b), std::domain_error);
  EXPECT_THAT(front_end_.thrown, ElementsAre(Code::kMixedNodes));
}

TEST_F(FrontEndInterfaceTest, BelongsToTheSessionThatItBegan) {
  begin(&front_end_);
  pass();
  session::detach_front_end();
  pass();
  begin();
  pass();
  stop();
  EXPECT_THAT(front_end_.calls, ElementsAre("opened n1", "closing n"));
}

}  // namespace
}  // namespace leapp
