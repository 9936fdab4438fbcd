// Nodes that run at different rates in the program, but once per tick in the bundle.

#include "workbench.h"

namespace leapp {
namespace {

using at::Tensor;
using ::testing::AllOf;
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
  // Returns the codes that compile_graph() reports about the passes of `program`.
  std::string log_of(const std::function<void()>& program) {
    const at::NoGradGuard no_grad;
    begin();
    program();
    stop();
    compile_graph({.visualize = false});
    return text_of("log.txt");
  }
};

TEST_F(RatesTest, ASlowNodeIsNamedWithBothCounts) {
  const std::string log = log_of([] {
    Tensor goal;
    for (int tick = 0; tick < 6; ++tick) {
      if (tick % 2 == 0) goal = run("plan", {{"x", fresh()}});
      run("track", {{"x", fresh()}, {"goal", goal}});
    }
  });
  EXPECT_THAT(log,
              AllOf(HasSubstr("rates_test.cpp:"),
                    HasSubstr("'track/goal' receives 'plan/y', but node 'plan' ran 3 times "
                              "and node 'track' 6 times while tracing"),
                    HasSubstr("'track/goal' receives the value that 'plan/y' has in the same tick"),
                    HasSubstr("Export the slower node as a separate bundle")));
}

TEST_F(RatesTest, SubstepsAreNamed) {
  EXPECT_THAT(log_of([] {
                for (int tick = 0; tick < 2; ++tick) {
                  const Tensor action = run("pi", {{"x", fresh()}});
                  for (int i = 0; i < 4; ++i) run("pd", {{"a", action}, {"q", fresh()}});
                }
              }),
              HasSubstr("node 'pi' ran twice and node 'pd' 8 times"));
}

TEST_F(RatesTest, OneEncoderForTwoCamerasIsNamed) {
  const auto tick = [] {
    const Tensor left = run("enc", {{"x", fresh()}});
    run("head", {{"left", left}, {"right", run("enc", {{"x", fresh()}})}});
  };
  EXPECT_THAT(log_of([&] {
                tick();
                tick();
              }),
              HasSubstr("node 'enc' ran 4 times and node 'head' twice"));
  EXPECT_THAT(log_of(tick),
              AllOf(HasSubstr("'head/right' receives 'enc/y' of another pass than other inputs do: "
                              "node 'enc' ran twice and node 'head' once"),
                    HasSubstr("a different node name for each")));
  EXPECT_THAT(log_of([] {
                run("left", {{"z", run("enc", {{"x", fresh()}})}});
                run("right", {{"z", run("enc", {{"x", fresh()}})}});
              }),
              HasSubstr("'right/z' receives 'enc/y' of another pass"));
}

TEST_F(RatesTest, AValueThatIsHeldIsNamed) {
  EXPECT_THAT(log_of([] {
                Tensor last = at::zeros({3});
                for (int tick = 0; tick < 5; ++tick) {
                  const Tensor action = run("pi", {{"x", fresh()}, {"last", last}});
                  if (tick % 2 == 0) last = action;
                }
              }),
              AllOf(HasSubstr("'pi/last' receives 'pi/y' with a varying delay: pass 2 of node 'pi' "
                              "received that of pass 1, pass 3 that of pass 1"),
                    HasSubstr("'pi/last' receives the value that 'pi/y' has in the tick before")));
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
