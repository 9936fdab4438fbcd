// Undeclared state: tensors that a program replaces in each tick.

#include <ATen/ATen.h>

#include <deque>

#include "workbench.h"

namespace leapp {
namespace {

using at::Tensor;

class CarriedTest : public testing::Workbench {
 protected:
  using Step = std::function<Tensor(const Tensor&)>;

  // Traces a program that `make` creates, and compares the bundle with a second one that it
  // creates.
  void expect_right(const std::function<Step()>& make, int passes, const std::string& backend) {
    const at::NoGradGuard no_grad;
    trace(make(), passes, backend);
    InferenceManager robot = manager();
    ASSERT_EQ(robot.inputs(), std::vector<std::string>{"policy/x"});
    const Step plain = make();
    for (int tick = 0; tick < 12; ++tick) {
      const Tensor x = at::randn({3});
      const Tensor expected = plain(x);
      const TensorMap found = robot.run_policy({{"policy/x", testing::to_leapp(x)}});
      const Tensor value = testing::to_torch(found.at("policy/y"));
      ASSERT_TRUE(at::allclose(value, expected, 1e-4, 1e-5)) << "tick " << tick;
    }
  }

  void trace(const Step& step, int passes, const std::string& backend) {
    begin();
    for (int pass = 0; pass < passes; ++pass) {
      const Tensor x = annotate::input_tensors("policy", {{"x", at::randn({3})}})[0];
      annotate::output_tensors("policy", {{"y", step(x)}}, {.export_with = backend});
    }
    stop();
    compile_graph({.visualize = false});
  }
};

TEST_F(CarriedTest, AReplacedTensorIsState) {
  const auto make = [] {
    auto h = std::make_shared<Tensor>(at::ones({3}));
    return [=](const Tensor& x) {
      *h = *h * 0.5 + x;
      return h->tanh();
    };
  };
  expect_right(make, 2, "jit");
  expect_right(make, 4, "onnx");
}

TEST_F(CarriedTest, AStateThatOnlyItselfDependsOnIsAClock) {
  const auto make = [] {
    auto time = std::make_shared<Tensor>(at::zeros({1}));
    return [=](const Tensor& x) {
      *time = *time + 0.1;
      return x * time->sin();
    };
  };
  expect_right(make, 2, "onnx");
  expect_right(make, 3, "jit");
}

TEST_F(CarriedTest, StatesMayBeginWithTheSameTensor) {
  const auto make = [] {
    const Tensor zero = at::zeros({3});
    auto state = std::make_shared<std::pair<Tensor, Tensor>>(zero, zero);
    return [=](const Tensor& x) {
      *state = {state->first * 0.5 + x, state->second * 0.9 - x};
      return state->first + state->second.cos();
    };
  };
  expect_right(make, 2, "jit");
}

TEST_F(CarriedTest, AnInitialValueMadeInTheFirstPassCounts) {
  const auto make = [] {
    auto h = std::make_shared<Tensor>();
    return [=](const Tensor& x) {
      if (!h->defined()) *h = at::full({3}, 2.0).neg();
      *h = (*h + x).tanh();
      return *h * 2;
    };
  };
  expect_right(make, 2, "onnx");
}

std::function<std::function<Tensor(const Tensor&)>()> queue_of(std::vector<Tensor> first) {
  return [=] {
    auto queue = std::make_shared<std::deque<Tensor>>(first.begin(), first.end());
    return [=](const Tensor& x) {
      queue->pop_front();
      queue->push_back(x);
      return at::stack(std::vector<Tensor>(queue->begin(), queue->end())).cumsum(0).sin().sum(0);
    };
  };
}

TEST_F(CarriedTest, AQueueHandsItsTensorsOn) {
  expect_right(queue_of({at::zeros({3}), at::zeros({3}), at::ones({3})}), 2, "jit");
  const Tensor zero = at::zeros({3});
  expect_right(queue_of({zero, zero, zero}), 3, "jit");
}

TEST_F(CarriedTest, AQueueThatHasNotTurnedOverIsRefused) {
  const at::NoGradGuard no_grad;
  const Tensor zero = at::zeros({3});
  EXPECT_THROW(trace(queue_of({zero, zero, zero, zero})(), 2, "jit"), Error);
  EXPECT_THAT(text_of("log.txt"),
              ::testing::AllOf(::testing::HasSubstr("a constant after 2 passes"),
                               ::testing::HasSubstr("Trace 4 passes or more")));
}

TEST_F(CarriedTest, AValueFromVaryingPlacesIsRefused) {
  const at::NoGradGuard no_grad;
  auto h = std::make_shared<Tensor>(at::zeros({3}));
  auto count = std::make_shared<int>(0);
  const Step step = [=](const Tensor& x) {
    const Tensor y = x + *h;
    const Tensor a = y * 2;
    const Tensor b = y * 3;
    *h = (*count)++ == 0 ? a : b;
    return y;
  };
  EXPECT_THROW(trace(step, 3, "jit"), Error);
  EXPECT_THAT(text_of("log.txt"), ::testing::HasSubstr("cannot be exported as state"));
}

TEST_F(CarriedTest, AnOutputOfALaterNodeIsFedBack) {
  const at::NoGradGuard no_grad;
  const auto step = [](const Tensor& x, Tensor& last) {
    const Tensor obs = annotate::input_tensors("observe", {{"x", x}})[0];
    const Tensor seen =
        annotate::output_tensors("observe", {{"seen", obs + last}}, {.export_with = "onnx"})[0];
    const Tensor in = annotate::input_tensors("policy", {{"seen", seen}})[0];
    last = annotate::output_tensors("policy", {{"action", in.tanh()}}, {.export_with = "onnx"})[0];
    return last;
  };
  begin();
  Tensor last = at::ones({3});
  for (int pass = 0; pass < 2; ++pass) step(at::randn({3}), last);
  stop();
  compile_graph({.visualize = false});
  InferenceManager robot = manager();
  EXPECT_EQ(robot.outputs(), std::vector<std::string>{"policy/action"});
  last = at::ones({3});
  for (int tick = 0; tick < 5; ++tick) {
    const Tensor x = at::randn({3});
    const Tensor expected = step(x, last);
    const TensorMap found = robot.run_policy({{"observe/x", testing::to_leapp(x)}});
    EXPECT_TRUE(at::allclose(testing::to_torch(found.at("policy/action")), expected, 1e-4, 1e-5));
  }
}

TEST_F(CarriedTest, AConstantMadeOnceIsNoChange) {
  const at::NoGradGuard no_grad;
  auto kept = std::make_shared<Tensor>();
  trace(
      [=](const Tensor& x) {
        if (!kept->defined()) *kept = at::arange(3).to(at::kFloat) + 1;
        return x * *kept;
      },
      2, "jit");
  EXPECT_THAT(text_of("log.txt"), ::testing::Not(::testing::HasSubstr("[WARNING]")));
}

}  // namespace
}  // namespace leapp
