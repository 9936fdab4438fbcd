// Nodes that run at different rates: with a schedule, or refused.

#include "workbench.h"

namespace leapp {
namespace {

using at::Tensor;
using ::testing::HasSubstr;
using ::testing::Not;

// y = 2 a + b ..
Tensor run(const std::string& node, const NamedTensors& inputs) {
  const std::vector<Tensor> in = annotate::input_tensors(node, inputs);
  Tensor sum = in[0] * 2;
  for (std::size_t i = 1; i < in.size(); ++i) sum = sum + in[i];
  return annotate::output_tensors(node, {{"y", sum}}, {.export_with = "jit"})[0];
}

Tensor fresh() {
  return at::randn({3});
}

class RatesTest : public testing::Workbench {
 protected:
  // Returns the log of compile_graph() about the passes of `program`.
  std::string log_of(const std::function<void()>& program) {
    trace(program);
    compile_graph({.visualize = false});
    return text_of("log.txt");
  }

  // Returns the schedule of its bundle.
  std::vector<NodeSchedule> schedule_of(const std::function<void()>& program) {
    trace(program);
    for (const NodeOutcome& outcome : compile_graph({.visualize = false})) {
      EXPECT_TRUE(outcome.passed) << outcome.node;
    }
    return read_bundle(folder_ / "g" / "g.yaml").pipeline.schedule;
  }

  // Returns whether compile_graph() refuses it, and fails it if it may not throw.
  bool is_refused(const std::function<void()>& program) {
    trace(program);
    try {
      compile_graph({.visualize = false});
      return false;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kRates);
    }
    for (const bool validate : {true, false}) {
      const auto outcomes =
          compile_graph({.visualize = false, .validate = validate, .strict = false});
      EXPECT_TRUE(std::ranges::any_of(outcomes, [](const auto& each) { return !each.passed; }));
    }
    return true;
  }

 private:
  void trace(const std::function<void()>& program) {
    const at::NoGradGuard no_grad;
    begin();
    program();
    stop();
  }
};

TEST_F(RatesTest, ASlowNodeGetsAPeriod) {
  const auto found = schedule_of([] {
    Tensor goal;
    for (int tick = 0; tick < 6; ++tick) {
      if (tick % 2 == 0) goal = run("plan", {{"x", fresh()}});
      run("track", {{"x", fresh()}, {"goal", goal}});
    }
  });
  EXPECT_EQ(found, (std::vector<NodeSchedule>{{.node = "plan", .every = 2}}));
}

TEST_F(RatesTest, SubstepsAreTheTick) {
  const auto found = schedule_of([] {
    for (int tick = 0; tick < 2; ++tick) {
      const Tensor action = run("pi", {{"x", fresh()}});
      for (int i = 0; i < 4; ++i) run("pd", {{"a", action}, {"q", fresh()}});
    }
  });
  EXPECT_EQ(found, (std::vector<NodeSchedule>{{.node = "pi", .every = 4}}));
}

TEST_F(RatesTest, OneEncoderForTwoCamerasIsRefused) {
  const auto tick = [] {
    const Tensor left = run("enc", {{"x", fresh()}});
    run("head", {{"left", left}, {"right", run("enc", {{"x", fresh()}})}});
  };
  EXPECT_TRUE(is_refused([&] {
    tick();
    tick();
  }));
  EXPECT_TRUE(is_refused(tick));
  EXPECT_TRUE(is_refused([] {
    run("left", {{"z", run("enc", {{"x", fresh()}})}});
    run("right", {{"z", run("enc", {{"x", fresh()}})}});
  }));
}

TEST_F(RatesTest, AValueThatIsHeldIsRefused) {
  EXPECT_TRUE(is_refused([] {
    Tensor last = at::zeros({3});
    for (int tick = 0; tick < 5; ++tick) {
      const Tensor action = run("pi", {{"x", fresh()}, {"last", last}});
      if (tick % 2 == 0) last = action;
    }
  }));
}

// A planner writes a buffer once, before the passes of the tracker, which reads it.
TEST_F(RatesTest, SharedMemoryOfUnknownRatesIsRefused) {
  EXPECT_TRUE(is_refused([] {
    const Tensor goal = at::zeros({3});
    const Tensor x = annotate::input_tensors("plan", {{"x", fresh()}})[0];
    goal.copy_(x * 2);
    annotate::output_tensors("plan", {{"y", x + goal}}, {.export_with = "jit"});
    for (int tick = 0; tick < 5; ++tick) {
      const Tensor q = annotate::input_tensors("track", {{"q", fresh()}})[0];
      annotate::output_tensors("track", {{"u", goal - q}}, {.export_with = "jit"});
    }
  }));
}

TEST_F(RatesTest, OncePerTickIsNoMatter) {
  const auto quiet = [&](const std::function<void()>& program) {
    EXPECT_THAT(log_of(program), Not(HasSubstr("WARNING")));
  };
  quiet([] {  // stops in the middle of a tick
    Tensor last = at::zeros({3});
    for (int tick = 0; tick < 4; ++tick) {
      const Tensor seen = run("sense", {{"x", fresh()}});
      if (tick < 3) last = run("pi", {{"x", seen}, {"last", last}});
    }
  });
  quiet([] {  // additional passes of a node that nothing reads, and before any node is read
    for (int i = 0; i < 3; ++i) run("sense", {{"x", fresh()}});
    for (int tick = 0; tick < 3; ++tick) run("pi", {{"x", run("sense", {{"x", fresh()}})}});
    for (int i = 0; i < 3; ++i) run("other", {{"x", fresh()}});
  });
  quiet([] {  // all passes of one node, then all of the next one
    std::vector<Tensor> seen;
    for (int tick = 0; tick < 3; ++tick) seen.push_back(run("sense", {{"x", fresh()}}));
    for (const Tensor& one : seen) run("pi", {{"x", one}});
  });
  quiet([] {  // episodes
    for (int episode = 0; episode < 2; ++episode) {
      Tensor last = at::zeros({3});
      Tensor older = at::zeros({3});
      for (int tick = 0; tick < 3; ++tick) {
        const Tensor action = run("pi", {{"x", fresh()}, {"last", last}, {"older", older}});
        older = last;
        last = action;
      }
    }
  });
}

TEST_F(RatesTest, APassThatFailedCountsForNothing) {
  EXPECT_THAT(log_of([] {
                for (int tick = 0; tick < 3; ++tick) {
                  const Tensor seen = run("sense", {{"x", fresh()}});
                  if (tick == 1) {
                    annotate::input_tensors("pi", {{"x", seen}});
                    annotate::abandon("pi");
                  }
                  run("pi", {{"x", seen}});
                }
              }),
              Not(HasSubstr("WARNING")));
}

}  // namespace
}  // namespace leapp
