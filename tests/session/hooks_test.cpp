// When a front end is called.
#include "session/hooks.h"

#include "tracing.h"

namespace leapp {
namespace {

using at::Tensor;
using testing::code_of;
using ::testing::ElementsAre;

using HooksTest = testing::Tracing;

TEST_F(HooksTest, AreToldOfTheFirstTwoPassesOfEndsTheyAwaitAndOfTheEnd) {
  std::vector<std::string> told;
  session::Hooks hooks;
  hooks.opened = [&](const std::string& node, int number) {
    told.push_back("opened " + node + std::to_string(number));
    return number == 2;
  };
  hooks.closed = [&](const std::string& node) { told.push_back("closed " + node); };
  hooks.stopping = [&] { told.push_back(is_active() ? "stopping" : "stopped"); };
  session::hooks() = hooks;
  begin();
  for (int i = 0; i < 4; ++i) pass();
  stop();
  EXPECT_THAT(told, ElementsAre("opened n1", "opened n2", "closed n", "stopping"));
}

TEST_F(HooksTest, AreAskedAboutOutputsThatDependOnNoInput) {
  const Tensor kept = at::ones({2});
  int asked = 0;
  bool answer = false;
  session::Hooks hooks;
  hooks.keeps = [&](const std::vector<Tensor>& outputs) {
    ++asked;
    return answer && outputs.size() == 1 && outputs[0].is_same(kept);
  };
  session::hooks() = hooks;
  begin();
  in("n", at::ones({2}));
  EXPECT_EQ(code_of([&] { out("n", kept); }), Code::kNotTraced);
  answer = true;
  out("n", kept);
  EXPECT_THAT(node().undecided, ElementsAre("y"));
  EXPECT_EQ(asked, 2);
  pass("m");
  EXPECT_EQ(asked, 2);
}

TEST_F(HooksTest, ThatFailWhileStoppingDoNotKeepTheSessionAlive) {
  session::Hooks hooks;
  hooks.stopping = [] { throw std::runtime_error("not today"); };
  session::hooks() = hooks;
  begin();
  pass();
  EXPECT_THROW(stop(), std::runtime_error);
  EXPECT_FALSE(is_active());
  EXPECT_EQ(node().completed, 1);
}

TEST_F(HooksTest, RethrowErrorsThatComeOutOfOperators) {
  std::vector<Code> seen;
  session::Hooks hooks;
  hooks.rethrow = [&](const Error& error) {
    seen.push_back(error.code());
    throw std::domain_error("as the front end likes it");
  };
  session::hooks() = hooks;
  begin();
  const Tensor a = in("a", at::ones({2}));
  const Tensor b = in("b", at::ones({2}));
  EXPECT_THROW(static_cast<void>(a + b), std::domain_error);
  EXPECT_THAT(seen, ElementsAre(Code::kMixedNodes));
}

}  // namespace
}  // namespace leapp
