// Notifications and questions between the session and a front end.
#include "session/front_end.h"

#include "tracing.h"

namespace leapp {
namespace {

using at::Tensor;
using testing::code_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

TEST_F(FrontEndTest, RefusesToStopInsideAFunction) {
  begin();
  front_end::enter_function("n");
  EXPECT_EQ(code_of([] { stop(); }), Code::kFunctionRunning);
  front_end::leave_function("n");
  stop();
}

TEST_F(FrontEndTest, SaysThingsOnceAndKeepsThemUntilTheNextStart) {
  begin();
  const Diagnostic said{.code = Code::kPickled, .where = "policy.py:1", .text = "it was pickled"};
  front_end::diagnose(said);
  front_end::diagnose(said);
  stop();
  EXPECT_THAT(leapp::diagnostics(), ElementsAre(said));
  begin();
  EXPECT_TRUE(leapp::diagnostics().empty());
}

class QuestionsTest : public testing::Tracing {
 protected:
  void SetUp() override {
    Tracing::SetUp();
    begin();
  }
};

TEST_F(QuestionsTest, WhetherATensorIsTraced) {
  const Tensor raw = at::ones({2});
  EXPECT_FALSE(front_end::is_traced(raw));
  const Tensor x = in("n", raw);
  const Tensor y = x * 2;
  const Tensor constant = at::ones({2}) * 2;
  EXPECT_TRUE(front_end::is_traced(x));
  EXPECT_TRUE(front_end::is_traced(y));
  EXPECT_TRUE(front_end::is_traced(y.view({2, 1})));
  EXPECT_FALSE(front_end::is_traced(constant));
  EXPECT_FALSE(front_end::is_traced({}));
  out("n", y);
  EXPECT_TRUE(front_end::is_traced(y));  // it is an output of a node
  EXPECT_FALSE(front_end::is_traced(x));
  stop();
  EXPECT_FALSE(front_end::is_traced(y));
}

TEST_F(QuestionsTest, WhetherATensorMayVary) {
  const Tensor before = at::ones({2});
  EXPECT_FALSE(front_end::may_vary(before));  // no node is open
  const Tensor x = in("n", at::ones({2}));
  EXPECT_TRUE(front_end::may_vary(x));
  EXPECT_TRUE(front_end::may_vary(before));
  EXPECT_TRUE(front_end::may_vary(before + 1));
  EXPECT_FALSE(front_end::may_vary(at::full({2}, 3.0)));
}

TEST_F(QuestionsTest, WhichOutsideTensorsAValueDependsOn) {
  const Tensor weight = at::ones({2});
  const Tensor bias = at::ones({2});
  const Tensor x = in("n", at::ones({2}));
  const Tensor y = x * weight + bias;
  const auto found = front_end::outside_of(y);
  ASSERT_EQ(found.size(), 2U);
  for (const Tensor& each : found) EXPECT_TRUE(each.is_alias_of(weight) || each.is_alias_of(bias));
  EXPECT_THAT(front_end::outside_of(x), IsEmpty());
}

TEST_F(QuestionsTest, AnEscapeIsToldOfTracedValuesAtOnceAndOfOthersWithThePass) {
  const Tensor weight = at::ones({2});
  const Tensor x = in("n", at::ones({2}));
  front_end::note_escape(weight, Code::kNumber, "weight became a list");
  EXPECT_THAT(codes(), IsEmpty());
  front_end::note_escape(x, Code::kBranch, "x decided");
  EXPECT_THAT(codes(), ElementsAre(Code::kBranch));
  out("n", x * weight);
  EXPECT_TRUE(node().read_values);
  ASSERT_EQ(first_pass().escapes.size(), 1U);
  EXPECT_EQ(first_pass().escapes[0].text, "weight became a list");
}

TEST_F(QuestionsTest, AnEscapeOfMemoryOfAnothersIsCopiedUnseen) {
  float numbers[2] = {1, 2};  // as for an array of NumPy
  const Tensor x = in("n", at::ones({2}));
  front_end::note_escape(at::from_blob(numbers, {2}), Code::kNumber, "an array became a list");
  out("n", x * 2);
  EXPECT_EQ(first_pass().escapes.size(), 1U);
}

TEST_F(QuestionsTest, AnArrayOfOtherCodeIsPartOfThePassAndItsFirstReportCounts) {
  front_end::note_foreign(at::ones({2}), true, "before any node");
  const Tensor x = in("n", at::ones({2}));
  const Tensor array = at::ones({2});
  front_end::note_foreign(array, true, "policy.py:41");
  front_end::note_foreign(array, false, "policy.py:42");
  out("n", x + array);
  ASSERT_EQ(first_pass().baked.size(), 1U);
  ASSERT_TRUE(first_pass().baked[0].foreign.has_value());
  EXPECT_TRUE(first_pass().baked[0].foreign->written);
  EXPECT_EQ(first_pass().baked[0].foreign->left_at, "policy.py:41");
}

TEST_F(QuestionsTest, ReadingASizeIsHarmlessUnlessTracedValuesDecidedIt) {
  const Tensor x = in("n", at::ones({2}));
  front_end::note_size(x);
  const Tensor chosen = x.masked_select(x > 0);
  front_end::note_size(x);
  EXPECT_THAT(codes(), IsEmpty());
  front_end::note_size(chosen);
  EXPECT_THAT(codes(), ElementsAre(Code::kDataDependentSize));
}

}  // namespace
}  // namespace leapp
