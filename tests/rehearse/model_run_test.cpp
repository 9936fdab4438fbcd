#include "rehearse/model_run.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "../core/runtime/support.h"

namespace leapp::rehearse {
namespace {

TEST(ModelRunTest, GivesWhatTheModelPutsOut) {
  leapp::testing::find_libraries();
  Model model;
  model.name = "n";
  model.backend = "onnx";
  model.inputs = {leapp::testing::port("x")};
  model.outputs = {leapp::testing::port("y")};
  const auto engine = load_engine(model, leapp::testing::model_file("affine.onnx"));
  const Tensors outputs = run_model(*engine, model, {at::full({1, 4}, 2.0)});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_TRUE(agree(outputs[0], at::full({1, 4}, 5.0), {}));
  EXPECT_FALSE(agree(outputs[0], at::full({1, 4}, 5.1), {}));
}

TEST(ModelRunTest, TheLargestDifferenceIsANumber) {
  EXPECT_EQ(largest_difference(at::full({2}, 2), at::full({2}, 2.5)), "0.5");
}

TEST(ModelRunTest, OnTheHostTensorsAreContiguous) {
  const at::Tensor turned = at::arange(6).reshape({2, 3}).t();
  EXPECT_TRUE(on_host(turned).is_contiguous());
  EXPECT_TRUE(at::equal(on_host(turned), turned));
  EXPECT_FALSE(on_host({}).defined());
}

}  // namespace
}  // namespace leapp::rehearse
