// C++ programs that continue after tracing, with their bundle in a shadow run.
#include "leapp/trace/shadow.h"

#include "leapp/log.h"
#include "workbench.h"

namespace leapp {
namespace {

using at::Tensor;
using ::testing::HasSubstr;

class ShadowTest : public testing::Workbench {
 protected:
  // Traces some calls of the step, and exports them.
  void trace(const std::function<void()>& step, int passes = 3) {
    const at::NoGradGuard no_grad;
    begin();
    for (int i = 0; i < passes; ++i) step();
    stop();
    compile_graph({.visualize = false});
  }

  ShadowReport shadow(const std::function<void(Shadow&)>& episode) {
    Shadow run(file("g.yaml"));
    episode(run);
    return run.report();
  }
};

// y = h + x, then h = y; h is an undeclared attribute.
struct Integrator {
  Tensor h = at::zeros({2});
  int tick = 0;
  int jump = -1;  // the tick in which it computes something else

  void step() {
    const Tensor x = annotate::input_tensors("pi", {{"x", at::randn({2})}})[0];
    h.add_(x);
    Tensor y = h * 2;
    if (++tick == jump) y = y + 1;
    annotate::output_tensors("pi", {{"y", y}}, {.export_with = "jit"});
  }
};

TEST_F(ShadowTest, AProgramThatDoesWhatWasTracedPasses) {
  Integrator program;
  trace([&] { program.step(); });
  program = {};
  const ShadowReport report = shadow([&](Shadow&) {
    for (int i = 0; i < 50; ++i) program.step();
  });
  EXPECT_TRUE(report.passed()) << to_string(report);
  EXPECT_EQ(report.nodes[0].compared, 50u);
  EXPECT_THAT(to_string(report), HasSubstr("ok    pi: 50 ticks"));
}

TEST_F(ShadowTest, TheFirstDifferenceIsNamedWithItsTickAndLine) {
  Integrator program;
  trace([&] { program.step(); });
  program = {.jump = 7};
  const ShadowReport report = shadow([&](Shadow&) {
    for (int i = 0; i < 10; ++i) program.step();
  });
  EXPECT_FALSE(report.passed());
  const ShadowNodeReport& node = report.nodes[0];
  ASSERT_TRUE(node.first.has_value());
  EXPECT_EQ(node.first->tick, 7u);
  EXPECT_EQ(node.first->port, "y");
  EXPECT_NEAR(node.first->comparison.difference.max, 1, 1e-4);
  EXPECT_THAT(node.first->where, HasSubstr("shadow_test.cpp:"));
  EXPECT_EQ(node.compared, 7u);
  EXPECT_EQ(node.unjudged, 3u) << "a node with state is not judged after that";
}

TEST_F(ShadowTest, ResetsThatTheProgramTellsAreFollowed) {
  Integrator program;
  trace([&] { program.step(); });
  const ShadowReport report = shadow([&](Shadow& run) {
    for (int episode = 0; episode < 3; ++episode) {
      program = {};
      run.reset();
      for (int i = 0; i < 5; ++i) program.step();
    }
  });
  EXPECT_TRUE(report.passed()) << to_string(report);
  EXPECT_EQ(report.nodes[0].compared, 15u);
}

TEST_F(ShadowTest, OneRunAtATimeAndNoneWhileTracing) {
  Integrator program;
  trace([&] { program.step(); });
  const Shadow first(file("g.yaml"));
  EXPECT_THROW(Shadow second(file("g.yaml")), Error);
  EXPECT_THROW(begin(), Error);
}

}  // namespace
}  // namespace leapp
