// The ticks on which translations are compared.
#include "translate/sample_run.h"

#include <gtest/gtest.h>

#include "support.h"
#include "translate/translation.h"

namespace leapp::translate {
namespace {

using testing::ForeignBundle;

float first(const Tensor& tensor) {
  return *static_cast<const float*>(tensor.data());
}

TEST(SampleRunTest, BeginsWithTheGoldenTicksAndCarriesTheState) {
  ForeignBundle made;
  made.add("sum", "def forward(self, x, h):\n    return x + h, x + h\n", {"x", "h"}, {"y", "h"});
  made.bundle().pipeline.inputs = {{"sum", {"x"}}};
  made.bundle().pipeline.outputs = {{"sum", {"y"}}};
  made.bundle().pipeline.feedback_flow = {{{"sum", "h"}, {{"sum", "h"}}}};
  made.add_golden({"sum", "x"}, 3);
  const SampleRun run = run_samples(made.write(), {}, 2);
  ASSERT_EQ(run.ticks.size(), 3U);
  EXPECT_EQ(run.ended, "");
  EXPECT_EQ(run.ticks[0][0]->inputs[0], ForeignBundle::filled(3));
  EXPECT_EQ(run.ticks[0][0]->inputs[1], ForeignBundle::filled(0));
  EXPECT_EQ(run.ticks[1][0]->inputs[1], run.ticks[0][0]->outputs[1]);
  EXPECT_EQ(run.ticks[2][0]->inputs[1], run.ticks[1][0]->outputs[1]);
  EXPECT_NE(run.ticks[2][0]->inputs[0], run.ticks[1][0]->inputs[0]);
}

TEST(SampleRunTest, EndsWithTheFirstTickThatFails) {
  ForeignBundle made;
  made.add("n", R"(
def forward(self, x):
    if bool(x[0, 0] != 3.0):
        assert False, "made up"
    return x
)",
           {"x"}, {"y"});
  made.bundle().pipeline.inputs = {{"n", {"x"}}};
  made.bundle().pipeline.outputs = {{"n", {"y"}}};
  made.add_golden({"n", "x"}, 3);
  const SampleRun run = run_samples(made.write(), {}, 2);
  EXPECT_EQ(run.ticks.size(), 1U);
  EXPECT_NE(run.ended, "");
}

TEST(SampleRunTest, RunsANodeOnlyInItsTicks) {
  ForeignBundle made;
  made.add("slow", testing::kDouble, {"x"}, {"y"});
  made.bundle().pipeline.inputs = {{"slow", {"x"}}};
  made.bundle().pipeline.outputs = {{"slow", {"y"}}};
  made.bundle().pipeline.schedule = {NodeSchedule{.node = "slow", .every = 2}};
  const SampleRun run = run_samples(made.write(), {}, 4);
  ASSERT_EQ(run.ticks.size(), 4U);
  EXPECT_TRUE(run.ticks[0][0].has_value());
  EXPECT_FALSE(run.ticks[1][0].has_value());
  EXPECT_TRUE(run.ticks[2][0].has_value());
}

TEST(FindDifferenceTest, ComparesEveryTick) {
  ForeignBundle made;
  made.add("n", testing::kDouble, {"x"}, {"y"});
  made.bundle().pipeline.inputs = {{"n", {"x"}}};
  made.bundle().pipeline.outputs = {{"n", {"y"}}};
  SampleRun run = run_samples(made.write(), {}, 3);
  const Model& node = made.bundle().models[0];
  const auto difference = [&] {
    Translation same = translate(node, made.file("n"), {at::ones({1, 4})});
    return find_difference(made.bundle(), run, 0, std::move(same.engine), {Tolerance{}});
  };
  EXPECT_EQ(difference(), "");
  run.ticks[2][0]->outputs[0] = ForeignBundle::filled(first(run.ticks[2][0]->outputs[0]) + 1);
  EXPECT_NE(difference().find("tick 2"), std::string::npos);
}

}  // namespace
}  // namespace leapp::translate
