#include <gtest/gtest.h>

#include <array>

#include "leapp/engine.h"
#include "leapp/error.h"

namespace leapp {
namespace {

Model node() {
  Model model;
  model.name = "pi";
  model.inputs = {Port{.name = "x", .dtype = DType::kFloat32, .shape = {2}}};
  model.outputs = {Port{.name = "y", .dtype = DType::kInt64, .shape = {1}},
                   Port{.name = "none", .dtype = DType::kFloat32, .shape = {0}}};
  return model;
}

class ViewsTest : public ::testing::Test {
 protected:
  // Returns whether the views are accepted, or their error contains `expected`.
  void expect_refused(const std::string& expected) const {
    try {
      check_views(node(), std::array<ConstTensorView, 1>{in_}, outputs_);
      FAIL() << "they passed";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kBadBinding);
      EXPECT_NE(error.text().find(expected), std::string::npos) << error.text();
    }
  }

  std::array<float, 2> x_{};
  std::array<std::int64_t, 1> y_{};
  TensorView in_{x_.data(), DType::kFloat32, {2}};
  std::vector<TensorView> outputs_{{y_.data(), DType::kInt64, {1}},
                                   {nullptr, DType::kFloat32, {0}}};
};

TEST_F(ViewsTest, BuffersOfThePortsPassAndNoElementsNeedNoMemory) {
  EXPECT_NO_THROW(check_views(node(), std::array<ConstTensorView, 1>{in_}, outputs_));
}

TEST_F(ViewsTest, AnotherTypeNamesThePort) {
  in_.dtype = DType::kFloat64;
  expect_refused("pi/x");
}

TEST_F(ViewsTest, AnotherShapeNamesThePort) {
  outputs_[0].shape = {1, 1};
  expect_refused("pi/y");
}

TEST_F(ViewsTest, MissingMemoryNamesThePort) {
  outputs_[0].data = nullptr;
  expect_refused("pi/y");
}

TEST_F(ViewsTest, EachPortHasABuffer) {
  outputs_.pop_back();
  expect_refused("pi");
}

// An engine on host memory.
class HostEngine final : public Engine {
 public:
  std::string description() const override { return "host"; }
  std::unique_ptr<Binding> bind(std::span<const ConstTensorView>,
                                std::span<const TensorView>) override {
    return nullptr;
  }
};

TEST(EngineTest, AnEngineOfTheHostHasNoMemoryOfADevice) {
  HostEngine engine;
  EXPECT_EQ(engine.memory(), nullptr);
  try {
    engine.bind_device({}, {});
    FAIL() << "it was bound";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInternal);
  }
}

}  // namespace
}  // namespace leapp
