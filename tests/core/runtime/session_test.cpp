// Memory of the caller that a manager reads and writes in place.
#include <gmock/gmock.h>

#include <array>
#include <span>
#include <string>

#include "leapp/inference_manager.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;
using namespace leapp::testing;

TEST_F(InferenceManagerTest, BoundMemoryIsReadAndWrittenInPlace) {
  test.node("pre", "affine.onnx", {port("x")}, {port("y")})
      .node("post", "affine.onnx", {port("x")}, {port("y")})
      .wire("pre/y", "post/x")
      .input("pre/x")
      .output("pre/y")
      .output("post/y");
  InferenceManager manager(test.write());
  std::array<float, 4> x{1, 2, 3, 4};
  std::array<float, 4> middle{};
  std::array<float, 4> y{};
  manager.bind_input(manager.input_port("pre/x"), x);
  manager.bind_output(manager.output_port("pre/y"), middle);
  manager.bind_output(manager.output_port("post/y"), y);
  manager.tick().value();
  EXPECT_THAT(middle, ElementsAre(3, 5, 7, 9));
  EXPECT_THAT(y, ElementsAre(7, 11, 15, 19));
  EXPECT_EQ(manager.output(manager.output_port("post/y")).data, y.data());
  x = {0, 0, 0, 0};
  manager.tick().value();
  EXPECT_THAT(y, Each(3));
  // Switches back to the manager's own memory.
  manager.unbind_output(manager.output_port("post/y"));
  x = {1, 1, 1, 1};
  manager.tick().value();
  EXPECT_THAT(y, Each(3));
  EXPECT_THAT(floats(manager.output(manager.output_port("post/y"))), Each(7));
}

TEST_F(InferenceManagerTest, BoundOutputThatIsFedBackIsACopy) {
  add_policy(test);
  InferenceManager manager(test.write());
  std::array<float, 4> action{};
  manager.bind_output(manager.output_port("post/y"), action);
  PolicyReference reference;
  for (int tick = 0; tick < 5; ++tick) {
    manager.run_policy({{"pre/x", row({-0.6f, -0.6f, -0.6f, -0.6f})}});
    ASSERT_THAT(action, Each(FloatEq(reference.tick(-0.6f))));
    action.fill(100);  // reset() does not change the caller's memory
  }
}

TEST_F(InferenceManagerTest, BoundInputIsNeverWritten) {
  add_policy(test);
  InferenceManager manager(test.write());
  const std::array<float, 4> x{1, 2, 3, 4};
  const InputPort port = manager.input_port("pre/x");
  manager.bind_input(port, x);
  manager.prepare();
  EXPECT_THAT(message_of([&] {
                manager.run_policy({{"pre/x", row({0, 0, 0, 0})}});
              }),
              HasSubstr("input pre/x is bound to memory of the caller"));
  const Result<void> result = manager.set_input(port, row({0, 0, 0, 0}));
  EXPECT_THAT(std::string(result.failure().message()),
              HasSubstr("input pre/x is bound to memory of the caller"));
  EXPECT_THAT(x, ElementsAre(1, 2, 3, 4));
}

TEST_F(InferenceManagerTest, BoundMemoryMustBeAligned) {
  test.node("n", "affine.onnx", {port("x")}, {port("y")}).input("n/x").output("n/y");
  InferenceManager manager(test.write());
  alignas(float) std::array<char, 20> memory{};
  const auto odd = std::as_bytes(std::span(memory).subspan(1, 16));
  EXPECT_THAT(message_of([&] {
                manager.bind_input(manager.input_port("n/x"), {DType::kFloat32, odd});
              }),
              HasSubstr("is not aligned for float32"));
}

TEST_F(InferenceManagerTest, BoundMemoryMustFitThePort) {
  test.node("n", "affine.onnx", {port("x")}, {port("y")}).input("n/x").output("n/y");
  InferenceManager manager(test.write());
  const InputPort x = manager.input_port("n/x");
  const OutputPort y = manager.output_port("n/y");
  std::array<float, 3> few{};
  std::array<double, 4> wide{};
  EXPECT_THAT(message_of([&] { manager.bind_input(x, few); }),
              ::testing::AllOf(::testing::HasSubstr("n/x"), ::testing::EndsWith("[LP603]")));
  EXPECT_THAT(message_of([&] { manager.bind_output(y, wide); }),
              ::testing::AllOf(::testing::HasSubstr("n/y"), ::testing::EndsWith("[LP602]")));
  EXPECT_THAT(message_of([&] { manager.bind_input(x, std::span<const float>()); }),
              HasSubstr("has 0 elements"));
  EXPECT_THAT(message_of([&] {
                manager.bind_input(x, ConstTensorView(nullptr, DType::kFloat32, {1, 4}));
              }),
              HasSubstr("no memory (a null pointer)"));
  // The refused calls have bound nothing.
  EXPECT_TRUE(manager.set_input(x, row({1, 1, 1, 1})));
  EXPECT_TRUE(manager.tick());
  EXPECT_THAT(few, Each(0));
}

TEST_F(InferenceManagerTest, AnUnboundInputWantsToBeSet) {
  test.node("n", "affine.onnx", {port("x")}, {port("y")}).input("n/x").output("n/y");
  InferenceManager manager(test.write());
  const InputPort x = manager.input_port("n/x");
  const std::array<float, 4> memory{1, 2, 3, 4};
  manager.bind_input(x, memory);
  EXPECT_TRUE(manager.tick());
  manager.unbind_input(x);
  EXPECT_EQ(manager.tick().failure().code(), Code::kMissingInput);
  EXPECT_TRUE(manager.set_input(x, row({0, 0, 0, 0})));
  EXPECT_TRUE(manager.tick());
  EXPECT_THAT(memory, ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace leapp
