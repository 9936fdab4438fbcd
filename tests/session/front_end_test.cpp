// What front ends are told of a node's life, and asked.
#include "session/front_end.h"

#include "tracing.h"

namespace leapp {
namespace {

using at::Tensor;
using testing::code_of;
using ::testing::ElementsAre;

using FrontEndTest = testing::Tracing;

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

TEST_F(FrontEndTest, IsWarmedUpBeforeNodesAreOpenedOnly) {
  begin();
  front_end::warm_up();
  pass();
  EXPECT_EQ(code_of([] { front_end::warm_up(); }), Code::kInternal);
  EXPECT_EQ(front_end::pass_of("n"), 1);
}

TEST_F(FrontEndTest, RefusesToStopInsideAFunction) {
  begin();
  front_end::enter_function("n");
  EXPECT_EQ(code_of([] { stop(); }), Code::kFunctionRunning);
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
  const Diagnostic said{
      .code = Code::kReplaced, .where = "policy.py:1", .text = "a tensor was replaced"};
  front_end::diagnose(said);
  front_end::diagnose(said);
  stop();
  EXPECT_THAT(leapp::diagnostics(), ElementsAre(said));
  begin();
  EXPECT_TRUE(leapp::diagnostics().empty());
}

}  // namespace
}  // namespace leapp
