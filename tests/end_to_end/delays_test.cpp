// Declared inputs that receive values of past ticks.

#include <deque>

#include "workbench.h"

namespace leapp {
namespace {

using at::Tensor;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class DelaysTest : public testing::Workbench {
 protected:
  using Step = std::function<Tensor(const Tensor&, const std::string&)>;

  // Traces a program that `make` creates, and compares the bundle with a second one that it
  // creates. The program reads `input` and returns `output`.
  void expect_right(const std::function<Step()>& make, int passes, const std::string& input,
                    const std::string& output) {
    const at::NoGradGuard no_grad;
    for (const std::string backend : {"onnx", "jit"}) {
      begin();
      const Step traced = make();
      for (int pass = 0; pass < passes; ++pass) traced(at::randn({3}), backend);
      stop();
      compile_graph({.visualize = false});
      EXPECT_THAT(text_of("log.txt"), Not(HasSubstr("WARNING")));
      for (const Merge merge : {Merge::kOff, Merge::kAuto}) {
        InferenceManager robot(file("g.yaml").string(), {.merge = merge});
        ASSERT_THAT(robot.inputs(), ElementsAre(input));
        const Step plain = make();
        for (int tick = 0; tick < 10; ++tick) {
          const Tensor x = at::randn({3});
          const Tensor expected = plain(x, backend).clone();
          const TensorMap found = robot.run_policy({{input, testing::to_leapp(x)}});
          const Tensor value = testing::to_torch(found.at(output));
          ASSERT_TRUE(at::allclose(value, expected, 1e-4, 1e-5)) << backend << " tick " << tick;
        }
      }
    }
  }
};

// The loop attenuates: one that amplifies would turn rounding differences between engines into real
// ones.
Tensor act(const NamedTensors& inputs, const std::string& backend) {
  const std::vector<Tensor> in = annotate::input_tensors("pi", inputs);
  Tensor sum = in[0];
  for (std::size_t i = 1; i < in.size(); ++i)
    sum = sum * 0.5 + in[i] * (0.1 + 0.1 * static_cast<double>(i));
  return annotate::output_tensors("pi", {{"a", sum.tanh()}}, {.export_with = backend})[0];
}

// A policy that reads its last `count` actions, oldest last.
std::function<std::function<Tensor(const Tensor&, const std::string&)>()> history(
    std::size_t count, bool copies, const std::vector<Tensor>& first) {
  return [=] {
    auto past = std::make_shared<std::deque<Tensor>>(first.begin(), first.end());
    return [=](const Tensor& x, const std::string& backend) {
      NamedTensors inputs = {{"x", x}};
      for (std::size_t i = 0; i < count; ++i)
        inputs.push_back({"a" + std::to_string(i + 1), (*past)[i]});
      const Tensor action = act(inputs, backend);
      past->pop_back();
      if (copies) {
        for (Tensor& tensor : *past) tensor = tensor.clone();
      }
      past->push_front(action);
      return action;
    };
  };
}

TEST_F(DelaysTest, TheActionBeforeTheLast) {
  const Tensor zero = at::zeros({3});
  expect_right(history(2, false, {zero, zero}), 3, "pi/x", "pi/a");
  expect_right(history(2, true, {zero, at::ones({3})}), 5, "pi/x", "pi/a");
}

TEST_F(DelaysTest, AHistoryKeepsWhatItBeganWithAndSharesItsLinks) {
  const Tensor zero = at::zeros({3});
  expect_right(history(4, false, {zero, zero, zero, zero}), 6, "pi/x", "pi/a");
  EXPECT_THAT(manager().feedback_inputs(),
              UnorderedElementsAre("pi/a1", "pi/a2", "pi/a3", "pi/a4", "pi/a_1_ago", "pi/a_2_ago",
                                   "pi/a_3_ago"));
}

TEST_F(DelaysTest, ValuesShiftedInPlace) {
  expect_right(
      [] {
        auto past = std::make_shared<std::vector<Tensor>>();
        for (int i = 0; i < 3; ++i) past->push_back(at::full({3}, 0.1 * i));
        return [=](const Tensor& x, const std::string& backend) {
          const Tensor action = act(
              {{"x", x}, {"a1", past->at(0)}, {"a2", past->at(1)}, {"a3", past->at(2)}}, backend);
          past->at(2).copy_(past->at(1));
          past->at(1).copy_(past->at(0));
          past->at(0).copy_(action);
          return action;
        };
      },
      5, "pi/x", "pi/a");
}

// `sense` runs first; `pi` reads its output of `delay` ticks ago and its current one.
std::function<std::function<Tensor(const Tensor&, const std::string&)>()> late(std::size_t delay) {
  return [=] {
    auto past = std::make_shared<std::deque<Tensor>>();
    for (std::size_t i = 0; i < delay; ++i)
      past->push_back(at::full({3}, 0.3 + static_cast<double>(i)));
    return [=](const Tensor& x, const std::string& backend) {
      const Tensor in = annotate::input_tensors("sense", {{"x", x}})[0];
      const Tensor seen =
          annotate::output_tensors("sense", {{"y", in * 2 + 1}}, {.export_with = backend})[0];
      past->push_back(seen);
      const Tensor action = act({{"now", seen}, {"then", past->front()}}, backend);
      past->pop_front();
      return action;
    };
  };
}

TEST_F(DelaysTest, OfANodeThatRunsEarlierInTheTick) {
  expect_right(late(1), 2, "sense/x", "pi/a");
  EXPECT_THAT(manager().feedback_inputs(), ElementsAre("pi/then"));
  expect_right(late(3), 5, "sense/x", "pi/a");
}

TEST_F(DelaysTest, OfANodeThatRunsLaterInTheTick) {
  expect_right(
      [] {
        auto past = std::make_shared<std::deque<Tensor>>(2, at::zeros({3}));
        return [=](const Tensor& x, const std::string& backend) {
          const Tensor action = act({{"x", x}, {"w", past->front()}}, backend);
          past->pop_front();
          const Tensor in = annotate::input_tensors("post", {{"a", action}})[0];
          past->push_back(
              annotate::output_tensors("post", {{"w", in * 3}}, {.export_with = backend})[0]);
          return past->back();
        };
      },
      4, "pi/x", "post/w");
}

TEST_F(DelaysTest, PassesOfANodeAloneAtFirstAreNoDelay) {
  const at::NoGradGuard no_grad;
  const auto sense = [](const Tensor& x) {
    const Tensor in = annotate::input_tensors("sense", {{"x", x}})[0];
    return annotate::output_tensors("sense", {{"y", in * 2}}, {.export_with = "onnx"})[0];
  };
  begin();
  sense(at::randn({3}));
  for (int pass = 0; pass < 3; ++pass) act({{"now", sense(at::randn({3}))}}, "onnx");
  stop();
  compile_graph({.visualize = false});
  EXPECT_THAT(manager().feedback_inputs(), IsEmpty());
  EXPECT_THAT(text_of("log.txt"), Not(HasSubstr("WARNING")));
}

TEST_F(DelaysTest, WhatAHistoryBeginsWithIsNotThatOfPassesAlone) {
  const at::NoGradGuard no_grad;
  std::deque<Tensor> past = {at::full({3}, 0.1), at::full({3}, 0.2), at::full({3}, 0.3)};
  const auto run = [&](const Tensor& x) {
    return act({{"x", x}, {"a1", past[0]}, {"a2", past[1]}, {"a3", past[2]}}, "jit");
  };
  begin();
  run(at::randn({3}));
  run(at::randn({3}));
  for (int pass = 0; pass < 4; ++pass) {
    past.push_front(run(at::randn({3})));
    past.pop_back();
  }
  stop();
  compile_graph({.visualize = false});
  EXPECT_THAT(text_of("log.txt"), Not(HasSubstr("WARNING")));
  InferenceManager robot = manager();
  past = {at::full({3}, 0.1), at::full({3}, 0.2), at::full({3}, 0.3)};
  for (int tick = 0; tick < 6; ++tick) {
    const Tensor x = at::randn({3});
    past.push_front(run(x));
    past.pop_back();
    const TensorMap found = robot.run_policy({{"pi/x", testing::to_leapp(x)}});
    ASSERT_TRUE(at::allclose(testing::to_torch(found.at("pi/a")), past[0], 1e-4, 1e-5)) << tick;
  }
}

TEST_F(DelaysTest, AConstantHasNoAge) {
  const at::NoGradGuard no_grad;
  begin();
  Tensor gain;
  for (int pass = 0; pass < 3; ++pass) {
    if (pass != 1) {
      annotate::input_tensors("setup", {{"x", at::randn({3})}});
      gain = at::ones({3});
      annotate::output_tensors("setup", {},
                               {.static_outputs = {{"gain", gain}}, .export_with = "jit"});
    }
    act({{"x", at::randn({3})}, {"gain", gain}}, "jit");
  }
  stop();
  compile_graph({.visualize = false});
  EXPECT_THAT(text_of("log.txt"), Not(HasSubstr("' receives '")));
}

TEST_F(DelaysTest, LongerThanWhatWasKeptIsRefused) {
  const at::NoGradGuard no_grad;
  const auto step = history(2, false, {at::zeros({3}), at::zeros({3})})();
  start({.name = "g", .save_path = folder_.string(), .max_cached_io = 0});
  for (int pass = 0; pass < 4; ++pass) step(at::randn({3}), "onnx");
  stop();
  EXPECT_THAT(testing::message_of([] { compile_graph({.visualize = false}); }),
              AllOf(HasSubstr("delays_test.cpp:"), HasSubstr("input 'a2' of node 'pi'"),
                    HasSubstr("max_cached_io=2"), ::testing::EndsWith("[LP310]")));
}

}  // namespace
}  // namespace leapp
