// Tests of the operators that an observer sees.
#include "trace/dispatcher.h"

#include <ATen/ops/_efficientzerotensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace leapp::trace {
namespace {

using Names = std::vector<std::string>;

class Listener final : public Observer {
 public:
  explicit Listener(bool inside = false) : inside_(inside) {}

  void on_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
               torch::jit::Stack* stack) override {
    seen.push_back(op.schema().name());
    if (inside_) {
      redispatch_below(op, keys, stack);
    } else {
      call_unobserved(op, stack);
    }
  }

  Names seen;

 private:
  bool inside_;  // also observe inside composites
};

class DispatcherTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(can_observe()); }

  const at::Tensor x_ = at::ones({2, 3});
};

TEST_F(DispatcherTest, SeesCompositesWholeWhileItIsInstalled) {
  Listener listener;
  at::relu(x_);
  {
    const Observing observing(listener);
    at::linear(x_, x_);
  }
  at::relu(x_);
  EXPECT_EQ(listener.seen, Names{"aten::linear"});
}

TEST_F(DispatcherTest, SeesZerosWithoutMemoryAsZeros) {
  const at::Tensor before = at::_efficientzerotensor({2, 3});
  Listener listener;
  const Observing observing(listener);
  const at::Tensor inside = at::_efficientzerotensor({2, 3});
  EXPECT_NE(inside.const_data_ptr(), nullptr);
  at::cat({before, x_});
  EXPECT_EQ(listener.seen, (Names{"aten::zeros", "aten::zeros", "aten::cat"}));
}

TEST_F(DispatcherTest, SeesWhatACompositeIsMadeOfWhereItStepsAside) {
  Listener listener(true);
  const Observing observing(listener);
  at::linear(x_, x_);
  EXPECT_EQ(listener.seen.front(), "aten::linear");
  EXPECT_GT(listener.seen.size(), 1U);
}

TEST_F(DispatcherTest, TheInnerObserverTakesThePlaceOfTheOuter) {
  Listener outer;
  Listener inner;
  const Observing observing(outer);
  {
    const Observing instead(inner);
    at::relu(x_);
  }
  at::linear(x_, x_);
  EXPECT_EQ(inner.seen, Names{"aten::relu"});
  EXPECT_EQ(outer.seen, Names{"aten::linear"});
}

TEST_F(DispatcherTest, UnobservedHidesOperators) {
  Listener listener;
  const Observing observing(listener);
  {
    const Unobserved hidden;
    const Unobserved nested;
    at::relu(x_);
  }
  EXPECT_EQ(listener.seen, Names{});
}

TEST_F(DispatcherTest, SeesItsOwnThreadOnly) {
  Listener listener;
  const Observing observing(listener);
  std::thread([&] { at::relu(x_); }).join();
  EXPECT_EQ(listener.seen, Names{});
}

}  // namespace
}  // namespace leapp::trace
