// Threads: one manager serves one thread at a time, and managers are independent of each other.
#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "leapp/engine.h"
#include "leapp/inference_manager.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using ::testing::HasSubstr;
using namespace leapp::testing;

// An engine that lets a test interrupt a tick in the middle.
class SlowEngine final : public Engine {
 public:
  class Run final : public Binding {
   public:
    explicit Run(std::function<void()> hook) : hook_(std::move(hook)) {}
    void rebind_input(std::size_t, const ConstTensorView&) override {}
    void rebind_output(std::size_t, const TensorView&) override {}
    Result<void> run() noexcept override {
      hook_();
      return {};
    }

   private:
    std::function<void()> hook_;
  };

  explicit SlowEngine(std::function<void()> hook) : hook_(std::move(hook)) {}
  std::string description() const override { return "slow"; }
  std::unique_ptr<Binding> bind(std::span<const ConstTensorView>,
                                std::span<const TensorView>) override {
    return std::make_unique<Run>(hook_);
  }

 private:
  std::function<void()> hook_;
};

TEST_F(InferenceManagerTest, TwoThreadsInOneManagerAreAnError) {
  add_policy(test);
  std::atomic<bool> inside{false};
  std::atomic<bool> go_on{false};
  RuntimeOptions options;
  options.merge = Merge::kOff;
  options.engines.add("onnx", [&](const Model&, const ModelFile&, const EngineOptions&) {
    return std::make_unique<SlowEngine>([&] {
      if (inside.exchange(true)) return;  // only the first tick waits
      while (!go_on) std::this_thread::yield();
    });
  });
  InferenceManager manager(test.write(), options);
  const InputPort x = manager.input_port("pre/x");
  manager.set_input(x, row({0, 0, 0, 0})).value();
  std::thread other([&] { EXPECT_TRUE(manager.tick()); });
  while (!inside) std::this_thread::yield();
  const auto is_refused = [](const Result<void>& result) {
    return !result && result.failure().code() == Code::kTwoThreads;
  };
  EXPECT_TRUE(is_refused(manager.tick()));
  EXPECT_THAT(message_of([&] { manager.reset(); }), HasSubstr("two threads use this"));
  // Each call of the loop reports its own failure; none is postponed to a later call.
  EXPECT_TRUE(is_refused(manager.set_input(x, row({9, 9, 9, 9}))));
  EXPECT_TRUE(is_refused(manager.touch(x)));
  EXPECT_TRUE(is_refused(manager.clear_inputs()));
  std::array<float, 4> action{};
  EXPECT_TRUE(is_refused(manager.get_output(manager.output_port("post/y"), action)));
  go_on = true;
  other.join();
  EXPECT_TRUE(manager.tick());
}

// Computes y = 2 x, slowly enough that another thread can call in between.
class DoublingEngine final : public Engine {
 public:
  class Run final : public Binding {
   public:
    Run(const float* from, float* to) : from_(from), to_(to) {}
    void rebind_input(std::size_t, const ConstTensorView&) override {}
    void rebind_output(std::size_t, const TensorView&) override {}
    Result<void> run() noexcept override {
      for (int i = 0; i < 4; ++i) {
        to_[i] = 2 * from_[i];
        std::this_thread::yield();
      }
      return {};
    }

   private:
    const float* from_;
    float* to_;
  };

  std::string description() const override { return "doubling"; }
  std::unique_ptr<Binding> bind(std::span<const ConstTensorView> inputs,
                                std::span<const TensorView> outputs) override {
    return std::make_unique<Run>(static_cast<const float*>(inputs[0].data),
                                 static_cast<float*>(outputs[0].data));
  }
};

// Under ThreadSanitizer this also shows that no two calls access the values at the same time.
TEST_F(InferenceManagerTest, CallsOfTwoThreadsGiveRightResultsOrAnError) {
  test.node("n", "affine.onnx", {port("x")}, {port("y")}).input("n/x").output("n/y");
  RuntimeOptions options;
  options.engines.add("onnx", [](const Model&, const ModelFile&, const EngineOptions&) {
    return std::make_unique<DoublingEngine>();
  });
  InferenceManager manager(test.write(), options);
  const InputPort x = manager.input_port("n/x");
  std::atomic<int> done{0};
  const auto work = [&](float value) {
    const TensorMap inputs = {{"n/x", row({value, value, value, value})}};
    const std::vector<float> elements(4, value);
    for (int i = 0; i < 2000; ++i) {
      try {
        const TensorMap outputs = manager.run_policy(inputs);
        ++done;
        for (float y : outputs.at("n/y").values<float>()) ASSERT_EQ(y, 2 * value);
        manager.state();
        manager.statistics();
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), Code::kTwoThreads);
      }
      if (const Result<void> set = manager.set_input(x, elements); !set) {
        ASSERT_EQ(set.failure().code(), Code::kTwoThreads);
      }
      if (const Result<void> ticked = manager.tick(); !ticked) {
        ASSERT_EQ(ticked.failure().code(), Code::kTwoThreads);
      }
    }
  };
  std::thread other(work, 1.0f);
  work(2.0f);
  other.join();
  EXPECT_GT(done, 0);
}

TEST_F(InferenceManagerTest, DistinctManagersRunInDistinctThreads) {
  add_policy(test);
  const auto yaml = test.write();
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> results(4);
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] {
      InferenceManager manager(yaml);
      for (int tick = 0; tick < 200; ++tick) {
        results[i] =
            floats(manager.run_policy({{"pre/x", row({-0.6f, 0, 0.1f, -2})}}).at("post/y"));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<float>& result : results) EXPECT_EQ(result, results[0]);
}

}  // namespace
}  // namespace leapp
