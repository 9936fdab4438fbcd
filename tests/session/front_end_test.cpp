// What front ends are told of a node's life, and asked.
#include "session/front_end.h"

#include "session/hooks.h"
#include "workbench.h"

namespace leapp {
namespace {

using at::Tensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;

class FrontEndTest : public testing::Workbench {
 protected:
  void TearDown() override {
    session::set_hooks({});
    Workbench::TearDown();
  }

  static void pass(const std::string& node = "n") {
    const Tensor x = annotate::input_tensors(node, {{"x", at::ones({2})}})[0];
    annotate::output_tensors(node, {{"y", x * 2}}, {.export_with = "jit"});
  }
};

TEST_F(FrontEndTest, KnowsWhichNodesAreOpenAndInWhichPass) {
  begin();
  EXPECT_FALSE(front_end::any_open());
  EXPECT_EQ(front_end::pass_of("n"), 0);
  const Tensor x = annotate::input_tensors("n", {{"x", at::ones({2})}})[0];
  EXPECT_TRUE(front_end::any_open());
  EXPECT_THAT(front_end::open_nodes(), ElementsAre("n"));
  EXPECT_EQ(front_end::pass_of("n"), 1);
  annotate::abandon("n");
  EXPECT_FALSE(front_end::any_open());
  EXPECT_EQ(front_end::pass_of("n"), 0);
  pass();
  EXPECT_FALSE(front_end::any_open());
  EXPECT_EQ(front_end::pass_of("n"), 1);
  pass();
  EXPECT_EQ(front_end::pass_of("n"), 2);
}

TEST_F(FrontEndTest, IsToldOfTheFirstTwoPassesAndOfTheEnd) {
  std::vector<std::string> told;
  const auto tell = [&told](const char* what) {
    return [&told, what](const std::string& node, int number) {
      told.push_back(what + node + std::to_string(number));
    };
  };
  session::Hooks hooks;
  hooks.opened = tell("opened ");
  hooks.closed = tell("closed ");
  hooks.stopping = [&] { told.push_back(is_active() ? "stopping" : "stopped"); };
  session::set_hooks(hooks);
  begin();
  for (int i = 0; i < 4; ++i) pass();
  stop();
  EXPECT_THAT(told, ElementsAre("opened n1", "closed n1", "opened n2", "closed n2", "stopping"));
}

TEST_F(FrontEndTest, IsAskedAboutOutputsThatDependOnNoInput) {
  const Tensor kept = at::ones({2});
  int asked = 0;
  bool answer = false;
  session::Hooks hooks;
  hooks.keeps = [&](const std::vector<Tensor>& outputs) {
    ++asked;
    return answer && outputs.size() == 1 && outputs[0].is_same(kept);
  };
  session::set_hooks(hooks);
  begin();
  annotate::input_tensors("n", {{"x", at::ones({2})}});
  const auto close = [&] { annotate::output_tensors("n", {{"y", kept}}, {.export_with = "jit"}); };
  EXPECT_THAT(message_of(close), HasSubstr("non-traced tensors"));
  answer = true;
  close();
  EXPECT_EQ(asked, 2);
  pass("m");
  EXPECT_EQ(asked, 2);
}

TEST_F(FrontEndTest, IsWarmedUpBeforeNodesAreOpenedOnly) {
  begin();
  front_end::warm_up();
  pass();
  EXPECT_THAT(message_of([] { front_end::warm_up(); }), HasSubstr("before nodes are opened"));
  EXPECT_EQ(front_end::pass_of("n"), 1);
}

TEST_F(FrontEndTest, RefusesToStopInsideAFunction) {
  begin();
  front_end::enter_function("n");
  EXPECT_THAT(message_of([] { stop(); }), HasSubstr("function of node 'n' is still executing"));
  front_end::leave_function("n");
  stop();
}

TEST_F(FrontEndTest, RemembersWhatAnnotationsNamedInTheFirstPass) {
  begin();
  const Tensor x = at::ones({2});
  const Tensor traced = annotate::input_tensors("n", {{"x", x}})[0];
  EXPECT_TRUE(front_end::was_declared(x));
  EXPECT_FALSE(front_end::was_declared(traced));  // another tensor over the same memory
  EXPECT_FALSE(front_end::was_declared(at::ones({2})));
}

TEST_F(FrontEndTest, SaysThingsOnceAndKeepsThemUntilTheNextStart) {
  begin();
  const Diagnostic said{.code = Code::kClock, .where = "policy.py:1", .text = "the time is read"};
  front_end::diagnose(said);
  front_end::diagnose(said);
  stop();
  EXPECT_THAT(leapp::diagnostics(), ElementsAre(said));
  EXPECT_THAT(text_of("log.txt"), HasSubstr("policy.py:1: the time is read [LP216]"));
  begin();
  EXPECT_TRUE(leapp::diagnostics().empty());
}

}  // namespace
}  // namespace leapp
