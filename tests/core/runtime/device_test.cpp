// Values on a device. The device is a fake: memory that the host cannot access, and queued work.
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <cstring>
#include <deque>
#include <functional>
#include <map>

#include "bundle/noise_port.h"
#include "leapp/inference_manager.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using namespace leapp::testing;

// Work is queued until the next synchronize() or copy to the host, as on a real device.
class FakeDevice final : public DeviceMemory {
 public:
  ~FakeDevice() override { EXPECT_TRUE(blocks_.empty()) << "memory was not given back"; }

  std::string device() const override { return "fake:0"; }

  void* allocate(std::size_t bytes) override {
    void* memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    blocks_[memory] = bytes;
    return memory;
  }

  void release(void* memory) noexcept override {
    munmap(memory, blocks_[memory]);
    blocks_.erase(memory);
  }

  Result<void> copy(void* to, const void* from, std::size_t bytes, Copy way) noexcept override {
    if (fails()) return Failure(Code::kDeviceFailed, "the copy failed");
    if (way == Copy::kToDevice) {
      const auto* start = static_cast<const std::byte*>(from);
      enqueue([to, copy = std::vector<std::byte>(start, start + bytes)] {
        std::memcpy(to, copy.data(), copy.size());
      });
      return {};
    }
    enqueue([=] { std::memcpy(to, from, bytes); });
    if (way == Copy::kWithin) return {};
    Result<void> done = synchronize();
    if (!done) queue_.pop_back();  // the caller's memory may be gone later
    return done;
  }

  Result<void> synchronize() noexcept override {
    if (fails()) return Failure(Code::kDeviceFailed, "the work failed");
    protect(PROT_READ | PROT_WRITE);
    for (; !queue_.empty(); queue_.pop_front()) queue_.front()();
    protect(PROT_NONE);
    return {};
  }

  std::unique_ptr<Recording> record(const std::function<Result<void>()>& work) override {
    if (!can_record) throw Error(Code::kDeviceFailed, "this work looks at its values");
    class Replay final : public Recording {
     public:
      Replay(FakeDevice& device, std::deque<std::function<void()>> work)
          : device_(device), work_(std::move(work)) {}
      Result<void> replay() noexcept override {
        if (device_.fails()) return Failure(Code::kDeviceFailed, "the replay failed");
        ++device_.replays;
        for (const auto& step : work_) device_.enqueue(step);
        return {};
      }

     private:
      FakeDevice& device_;
      std::deque<std::function<void()>> work_;
    };
    synchronize().value();
    work().value();
    return std::make_unique<Replay>(*this, std::exchange(queue_, {}));
  }

  void enqueue(std::function<void()> work) { queue_.push_back(std::move(work)); }

  /// Lets call number `index` from now fail, counted from 0.
  void fail_at(int index) { left_ = index; }
  /// Returns whether it failed, and lets no other call fail.
  bool has_failed() { return std::exchange(left_, -1) == -1; }
  bool fails() noexcept { return left_ >= 0 && left_-- == 0; }

  bool can_record = true;
  int replays = 0;

 private:
  void protect(int access) {
    for (const auto& [memory, bytes] : blocks_) mprotect(memory, bytes, access);
  }

  int left_ = -1;
  std::map<void*, std::size_t> blocks_;
  std::deque<std::function<void()>> queue_;
};

// y = x + h, h' = y / 2, on the fake device.
class FakeEngine final : public Engine {
 public:
  explicit FakeEngine(std::shared_ptr<FakeDevice> device) : device_(std::move(device)) {}

  std::string description() const override { return "fake"; }
  std::shared_ptr<DeviceMemory> memory() const override { return device_; }
  std::unique_ptr<Binding> bind(std::span<const ConstTensorView>,
                                std::span<const TensorView>) override {
    throw Error(Code::kInternal, "values were expected on the device");
  }
  std::unique_ptr<Binding> bind_device(std::span<const ConstTensorView> inputs,
                                       std::span<const TensorView> outputs) override {
    class Run final : public Binding {
     public:
      Run(FakeDevice& device, std::span<const ConstTensorView> in, std::span<const TensorView> out)
          : device_(device), in_(in.begin(), in.end()), out_(out.begin(), out.end()) {}
      void rebind_input(std::size_t i, const ConstTensorView& view) override { in_[i] = view; }
      void rebind_output(std::size_t i, const TensorView& view) override { out_[i] = view; }
      Result<void> run() noexcept override {
        if (device_.fails()) return Failure(Code::kDeviceFailed, "the node failed");
        const auto* x = static_cast<const float*>(in_[0].data);
        const auto* h = static_cast<const float*>(in_[1].data);
        auto* y = static_cast<float*>(out_[0].data);
        auto* next = static_cast<float*>(out_[1].data);
        device_.enqueue([=] {
          for (int i = 0; i < 4; ++i) {
            y[i] = x[i] + h[i];
            next[i] = y[i] / 2;
          }
        });
        return {};
      }

     private:
      FakeDevice& device_;
      std::vector<ConstTensorView> in_;
      std::vector<TensorView> out_;
    };
    return std::make_unique<Run>(*device_, inputs, outputs);
  }

 private:
  std::shared_ptr<FakeDevice> device_;
};

class DeviceTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { find_libraries(); }
  void SetUp() override {
    test.node("policy", "recurrent.onnx", {port("x"), port("h_in")}, {port("y"), port("h_out")})
        .feedback("policy/h_out", "policy/h_in")
        .input("policy/x")
        .output("policy/y")
        .initial("policy/h_in", row({8, 8, 8, 8}));
    options.engines.add(
        "onnx",
        [this](const Model&, const ModelFile&, const EngineOptions&) -> std::unique_ptr<Engine> {
          return std::make_unique<FakeEngine>(device);
        });
  }

  std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>();
  RuntimeOptions options;
  TestBundle test;
};

TEST_F(DeviceTest, ValuesStayThereAndComeBackOnRequest) {
  InferenceManager manager(test.write(), options);
  EXPECT_EQ(manager.device(), "fake:0");
  const TensorMap in = {{"policy/x", row({2, 2, 2, 2})}};
  EXPECT_THAT(floats(manager.run_policy(in).at("policy/y")), Each(10));
  EXPECT_THAT(floats(manager.run_policy(in).at("policy/y")), Each(7));
  EXPECT_THAT(floats(manager.state().at("policy/h_in")), Each(3.5));
  const TensorMap saved = manager.state();
  manager.reset();
  EXPECT_THAT(floats(manager.run_policy(in).at("policy/y")), Each(10));
  manager.set_state(saved);
  EXPECT_THAT(floats(manager.run_policy(in).at("policy/y")), Each(5.5));
  manager.set_input_value("policy", "h", row({1, 1, 1, 1}).view());
  EXPECT_THAT(floats(manager.run_policy(in).at("policy/y")), Each(3));
}

TEST_F(DeviceTest, PreparedTicksAreReplays) {
  InferenceManager manager(test.write(), options);
  manager.prepare();
  const TensorMap in = {{"policy/x", row({2, 2, 2, 2})}};
  for (const float expected : {10.0f, 7.0f, 5.5f, 4.75f}) {
    EXPECT_THAT(floats(manager.run_policy(in).at("policy/y")), Each(expected));
  }
  EXPECT_EQ(device->replays, 4);
}

TEST_F(DeviceTest, WhatCannotBeRecordedRunsAsItIs) {
  device->can_record = false;
  InferenceManager manager(test.write(), options);
  manager.prepare();
  EXPECT_THAT(floats(manager.run_policy({{"policy/x", row({2, 2, 2, 2})}}).at("policy/y")),
              Each(10));
  EXPECT_EQ(device->replays, 0);
}

TEST_F(DeviceTest, MemoryOfTheDeviceGoesInAndOut) {
  InferenceManager manager(test.write(), options);
  const InputPort x = manager.input_port("policy/x");
  const OutputPort y = manager.output_port("policy/y");
  void* mine = device->allocate(16);
  void* result = device->allocate(16);
  const Tensor ones = row({1, 1, 1, 1});
  device->copy(mine, ones.data(), 16, DeviceMemory::Copy::kToDevice).value();
  manager.set_device_input(x, std::span(static_cast<const float*>(mine), 4)).value();
  manager.tick().value();
  manager.get_device_output(y, std::span(static_cast<float*>(result), 4)).value();
  EXPECT_EQ(manager.output<float>(y).failure().code(), Code::kUsage);
  Tensor host = row({0, 0, 0, 0});
  device->copy(host.data(), result, 16, DeviceMemory::Copy::kToHost).value();
  EXPECT_THAT(floats(host), Each(9));
  // After binding, a recorded tick reads and writes the caller's memory.
  manager.bind_input(x, std::span(static_cast<const float*>(mine), 4));
  manager.bind_output(y, std::span(static_cast<float*>(result), 4));
  manager.prepare();
  manager.tick().value();
  device->copy(host.data(), result, 16, DeviceMemory::Copy::kToHost).value();
  EXPECT_THAT(floats(host), Each(5.5));
  EXPECT_EQ(device->replays, 1);
  device->release(mine);
  device->release(result);
}

TEST_F(DeviceTest, GuardsLookAtTheDevicesValues) {
  options.finite = {.inputs = true, .state = true, .outputs = true};
  InferenceManager manager(test.write(), options);
  const TensorMap bad = {{"policy/x", row({1, INFINITY, 1, 1})}};
  EXPECT_THAT(message_of([&] { manager.run_policy(bad); }), HasSubstr("policy/x contains NaN"));
  EXPECT_THAT(floats(manager.run_policy({{"policy/x", row({2, 2, 2, 2})}}).at("policy/y")),
              Each(10));
}

// Each call of the device fails once in a tick: the tick fails, and the state is as it was.
TEST_F(DeviceTest, AFailingDeviceLeavesTheState) {
  enum class Mode { kPlain, kPrepared, kMeasured, kBound, kGuarded };
  test.output("policy/h_out");
  const std::filesystem::path yaml = test.write();
  void* const mine = device->allocate(16);
  for (const Mode mode :
       {Mode::kPlain, Mode::kPrepared, Mode::kMeasured, Mode::kBound, Mode::kGuarded}) {
    SCOPED_TRACE(static_cast<int>(mode));
    options.measure = mode == Mode::kMeasured;
    options.finite = {.state = mode == Mode::kGuarded, .outputs = mode == Mode::kGuarded};
    InferenceManager manager(yaml, options);
    const InputPort x = manager.input_port("policy/x");
    const OutputPort y = manager.output_port("policy/y");
    if (mode == Mode::kBound) {
      manager.bind_output(manager.output_port("policy/h_out"),
                          std::span(static_cast<float*>(mine), 4));
    }
    if (mode == Mode::kPrepared) manager.prepare();
    const std::array<float, 4> twos{2, 2, 2, 2};
    std::array<float, 4> result{};
    int failures = 0;
    for (bool failed = true; failed; ++failures) {
      manager.reset();
      manager.set_input(x, twos).value();
      manager.tick().value();  // y = 10, h = 5
      device->fail_at(failures);
      Result<void> done = manager.set_input(x, twos);
      if (done) done = manager.tick();
      failed = device->has_failed();
      ASSERT_EQ(static_cast<bool>(done), !failed) << failures;
      if (!failed) break;
      EXPECT_EQ(done.failure().code(), Code::kDeviceFailed) << failures;
      manager.set_input(x, twos).value();
      manager.tick().value();
      manager.get_output(y, std::span(result)).value();
      EXPECT_THAT(result, Each(7)) << failures;
    }
    EXPECT_GT(failures, 1);
  }
  device->release(mine);
}

// A schedule with everything that it can copy: a condition, watched inputs, counts, ages, carried
// values, feedback of two nodes, and noise.
class ScheduledDeviceTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    const auto number = [](const std::string& name, DType dtype) {
      return Port{.name = name, .dtype = dtype, .shape = {1}};
    };
    Port noise = port("noise");
    make_noise(noise, NoiseDistribution::kNormal);
    test.node("play", "recurrent.onnx",
              {port("x"), port("h_in"), number("n", DType::kInt64), number("age", DType::kInt32),
               noise, number("go", DType::kBool)},
              {port("y"), port("h_out")})
        .wire("policy/y", "play/x")
        .feedback("play/h_out", "play/h_in")
        .input("play/go")
        .output("play/y");
    test.bundle().pipeline.inputs.back().ports.push_back("noise");
    test.bundle().pipeline.schedule = {{.node = "policy", .on_change = {"x"}},
                                       {.node = "play",
                                        .repeat = 2,
                                        .carry = {{"y", "x"}},
                                        .index = "n",
                                        .when = PortRef{"play", "go"},
                                        .ages = {{"age", "policy"}}}};
  }

  static TensorMap inputs(float x) {
    Tensor go(DType::kBool, {1});
    *static_cast<std::uint8_t*>(go.data()) = 1;
    return {{"policy/x", row({x, x, x, x})}, {"play/go", go}};
  }
};

TEST_F(ScheduledDeviceTest, ValuesStayThere) {
  InferenceManager manager(test.write(), options);
  manager.prepare();
  EXPECT_EQ(device->replays, 0);
  const InputPort go = manager.input_port("play/go");
  // policy: y = x + h = 2 + 8, h' = 5. play, twice: y = x + h; then y = y + h. Its state is of the
  // tick before in both runs.
  EXPECT_THAT(floats(manager.run_policy(inputs(2)).at("play/y")), Each(10));
  EXPECT_THAT(floats(manager.run_policy(inputs(2)).at("play/y")), Each(20));  // h = 5, added twice
  const Tensor off(DType::kBool, {1});
  manager.set_input(go, off).value();
  manager.tick().value();
  EXPECT_EQ(manager.output_age(manager.output_port("play/y")), 1U);
  const TensorMap before = manager.state();
  manager.run_policy(inputs(3));
  EXPECT_NE(manager.state(), before);
  manager.undo_tick().value();
  EXPECT_EQ(manager.state(), before);
}

// Each call of the device fails once in a tick, and once while a tick is undone or prepared.
TEST_F(ScheduledDeviceTest, AFailingDeviceLeavesTheState) {
  const std::filesystem::path yaml = test.write();
  for (const bool guarded : {false, true}) {
    options.finite = {.state = guarded, .outputs = guarded};
    InferenceManager manager(yaml, options);
    const InputPort x = manager.input_port("policy/x");
    int failures = 0;
    for (bool failed = true; failed; ++failures) {
      manager.reset();
      manager.run_policy(inputs(2));
      manager.run_policy(inputs(2));
      const TensorMap before = manager.state();
      manager.set_input(x, row({3, 3, 3, 3})).value();
      device->fail_at(failures);
      const Result<void> done = manager.tick();
      failed = device->has_failed();
      ASSERT_EQ(static_cast<bool>(done), !failed) << failures;
      if (!failed) break;
      EXPECT_EQ(done.failure().code(), Code::kDeviceFailed) << failures;
      EXPECT_EQ(manager.state(), before) << failures;
    }
    EXPECT_GT(failures, 20);
  }
}

TEST_F(ScheduledDeviceTest, AFailingDeviceIsReportedByEveryCall) {
  InferenceManager manager(test.write(), options);
  const OutputPort y = manager.output_port("play/y");
  std::array<float, 4> result{};
  manager.run_policy(inputs(2));
  device->fail_at(0);
  EXPECT_EQ(manager.get_output(y, std::span(result)).failure().code(), Code::kDeviceFailed);
  device->fail_at(0);
  EXPECT_EQ(manager.undo_tick().failure().code(), Code::kDeviceFailed);
  for (int calls = 0;; ++calls) {
    device->fail_at(calls);
    const Result<void> reset = manager.reset_state();
    ASSERT_EQ(static_cast<bool>(reset), !device->has_failed()) << calls;
    if (reset) break;
    EXPECT_EQ(reset.failure().code(), Code::kDeviceFailed);
  }
  int failures = 0;
  for (;; ++failures) {
    device->fail_at(failures);
    try {
      manager.prepare();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kDeviceFailed);
    }
    if (!device->has_failed()) break;
  }
  EXPECT_GT(failures, 10);
}

TEST_F(DeviceTest, MeasuredStepsIncludeTheirWork) {
  options.measure = true;
  InferenceManager manager(test.write(), options);
  manager.run_policy({{"policy/x", row({2, 2, 2, 2})}});
  EXPECT_EQ(manager.statistics().nodes.at(0).second.count, 1u);
}

}  // namespace
}  // namespace leapp
