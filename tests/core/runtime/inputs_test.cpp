// Inputs of a manager: their list, the values that they accept, and the errors for others.
#include <gmock/gmock.h>

#include <array>
#include <span>
#include <vector>

#include "leapp/inference_manager.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace leapp::testing;

TEST_F(InferenceManagerTest, WrongInputsNameThePort) {
  add_policy(test);
  InferenceManager manager(test.write());
  EXPECT_THAT(message_of([&] { manager.run_policy({}); }),
              ::testing::AllOf(::testing::HasSubstr("pre/x"), ::testing::EndsWith("[LP604]")));
  EXPECT_THAT(message_of([&] {
                manager.run_policy({{"pre/x", row({0, 0, 0, 0})}, {"pre/z", row({0, 0, 0, 0})}});
              }),
              ::testing::AllOf(::testing::HasSubstr("pre/z"), ::testing::HasSubstr("pre/x"),
                               ::testing::EndsWith("[LP601]")));
  EXPECT_THAT(message_of([&] {
                manager.run_policy({{"policy/h", row({0, 0, 0, 0})}});
              }),
              ::testing::AllOf(::testing::HasSubstr("policy/h"), ::testing::HasSubstr("pre/x"),
                               ::testing::EndsWith("[LP601]")));
  EXPECT_THAT(message_of([&] {
                manager.run_policy({{"pre/x", Tensor({1, 3}, {1.f, 2.f, 3.f})}});
              }),
              ::testing::AllOf(::testing::HasSubstr("pre/x"), ::testing::EndsWith("[LP603]")));
  EXPECT_THAT(message_of([&] {
                manager.run_policy({{"pre/x", Tensor({1, 4}, {1.0, 2.0, 3.0, 4.0})}});
              }),
              ::testing::AllOf(::testing::HasSubstr("pre/x"), ::testing::EndsWith("[LP602]")));
}

TEST_F(InferenceManagerTest, AnInputThatWasSetNeedNotBeGiven) {
  test.node("sum", "clamp_sum.onnx", {port("a"), port("b")}, {port("y")})
      .input("sum/a")
      .input("sum/b")
      .output("sum/y");
  InferenceManager manager(test.write());
  manager.set_input_value("sum", "b", row({0.5, 0.5, 0.5, 0.5}).view());
  const TensorMap a = {{"sum/a", row({0.25, 0.25, 0.25, 0.25})}};
  EXPECT_THAT(floats(manager.run_policy(a).at("sum/y")), Each(0.75));
  EXPECT_THAT(floats(manager.run_policy(a).at("sum/y")), Each(0.75));
  // An input that was set once must be set again.
  TensorMap both = a;
  both.emplace("sum/b", row({0, 0, 0, 0}));
  EXPECT_THAT(floats(manager.run_policy(both).at("sum/y")), Each(0.25));
  EXPECT_THAT(message_of([&] { manager.run_policy(a); }), HasSubstr("input sum/b is missing"));
}

TEST_F(InferenceManagerTest, MockInputFitsAndRepeats) {
  add_policy(test);
  InferenceManager manager(test.write());
  const TensorMap mock = manager.get_mock_input(3);
  EXPECT_EQ(mock, manager.get_mock_input(3));
  EXPECT_NE(mock, manager.get_mock_input(4));
  EXPECT_NO_THROW(manager.run_policy(mock));
}

TEST_F(InferenceManagerTest, EveryCallOfTheLoopSaysThatItFailed) {
  test.node("n", "affine.onnx", {port("x")}, {port("y")}).input("n/x").output("n/y");
  InferenceManager manager(test.write());
  const InputPort x = manager.input_port("n/x");
  const OutputPort y = manager.output_port("n/y");
  const Tensor ones = row({1, 1, 1, 1});
  const ConstTensorView nothing(nullptr, DType::kFloat32, {1, 4});
  EXPECT_EQ(manager.set_input(x, nothing).failure().code(), Code::kWrongValue);
  EXPECT_EQ(manager.set_device_input(x, nothing).failure().code(), Code::kWrongValue);
  EXPECT_EQ(manager.set_input(InputPort(), ones).failure().code(), Code::kUnknownPort);
  EXPECT_EQ(manager.set_device_input(InputPort(), ones).failure().code(), Code::kUnknownPort);
  EXPECT_EQ(manager.touch(InputPort()).failure().code(), Code::kUnknownPort);
  EXPECT_EQ(manager.input(InputPort()).data, nullptr);
  EXPECT_EQ(manager.output(OutputPort()).data, nullptr);
  EXPECT_EQ(manager.output<float>(OutputPort()).failure().code(), Code::kUnknownPort);
  EXPECT_THROW(manager.bind_input(InputPort(), ones), Error);
  EXPECT_THROW(manager.unbind_input(InputPort()), Error);
  EXPECT_THROW(manager.unbind_output(OutputPort()), Error);
  EXPECT_THROW(manager.set_input_value("n", "x", nothing), Error);
  // A failed call changes nothing: no input is set.
  EXPECT_EQ(manager.tick().failure().code(), Code::kMissingInput);
  EXPECT_TRUE(manager.set_input(x, ones));
  EXPECT_TRUE(manager.tick());
  std::array<float, 3> few{};
  std::array<double, 4> wide{};
  std::array<float, 4> right{};
  EXPECT_EQ(manager.get_output(y, few).failure().code(), Code::kPortShape);
  EXPECT_EQ(manager.get_output(y, wide).failure().code(), Code::kPortType);
  EXPECT_EQ(manager.get_device_output(y, few).failure().code(), Code::kPortShape);
  EXPECT_EQ(manager.get_output(OutputPort(), right).failure().code(), Code::kUnknownPort);
  EXPECT_EQ(manager.get_output(y, TensorView{nullptr, DType::kFloat32, {1, 4}}).failure().code(),
            Code::kWrongValue);
  EXPECT_TRUE(manager.get_output(y, right));
  EXPECT_THAT(right, Each(3));
}

TEST_F(InferenceManagerTest, ElementsComeTypedAndSized) {
  test.node("n", "affine.onnx", {port("x")}, {port("y")}).input("n/x").output("n/y");
  InferenceManager manager(test.write());
  InputPort x;  // as a member of the caller's class
  x = manager.input_port("n/x");
  const OutputPort y = manager.output_port("n/y");
  ASSERT_TRUE(manager.set_input(x, std::vector<float>{1, 2, 3, 4}));
  ASSERT_TRUE(manager.tick());
  EXPECT_THAT(manager.output(y).values<float>(), ElementsAre(3, 5, 7, 9));
  const Result<std::span<const float>> values = manager.output<float>(y);
  ASSERT_TRUE(values);
  EXPECT_THAT(*values, ElementsAre(3, 5, 7, 9));
  EXPECT_EQ(manager.output<double>(y).failure().text(), "output n/y is float32, not float64");
  const float plain[4] = {4, 3, 2, 1};
  ASSERT_TRUE(manager.set_input(x, plain));
  ASSERT_TRUE(manager.tick());
  EXPECT_THAT(manager.output(y).values<float>(), ElementsAre(9, 7, 5, 3));
  const float short_array[3] = {4, 3, 2};
  EXPECT_EQ(manager.set_input(x, short_array).failure().text(),
            "input n/x has 3 elements (12 bytes), expected 4 (16 bytes)");
  EXPECT_EQ(manager.set_input(x, std::array<float, 3>{}).failure().code(), Code::kPortShape);
  EXPECT_EQ(manager.set_input(x, {DType::kFloat32, std::as_bytes(std::span(plain)).subspan(3)})
                .failure()
                .text(),
            "input n/x has 3 elements (13 bytes), expected 4 (16 bytes)");
  EXPECT_EQ(manager.set_input(x, std::vector<double>(4)).failure().text(),
            "input n/x is float64, expected float32");
  EXPECT_THROW(static_cast<void>(manager.output(y).values<double>()), Error);
}

}  // namespace
}  // namespace leapp
