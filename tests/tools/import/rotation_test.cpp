#include "import/rotation.h"

#include <gmock/gmock.h>

#include <cmath>

#include "import/meaning.h"
#include "run_part.h"

namespace leapp::importing {
namespace {

using leapp::testing::onnx_17;
using leapp::testing::run_part;
using ::testing::FloatNear;
using ::testing::Pointwise;

std::vector<float> matrix_of(const std::vector<float>& quaternion) {
  NodeWriter writer("rotation", onnx_17());
  const std::string value = writer.input(plain_port("q", {1, 4}));
  writer.output(plain_port("matrix", {3, 3}), rotation_of(writer, value));
  return run_part(std::move(writer).take(), {{"q", quaternion}}).at("matrix");
}

TEST(RotationTest, TheIdentityTurnsNothing) {
  EXPECT_EQ(matrix_of({1, 0, 0, 0}), std::vector<float>({1, 0, 0, 0, 1, 0, 0, 0, 1}));
}

TEST(RotationTest, QuarterTurnsAboutEachAxis) {
  const float h = std::sqrt(0.5F);
  // Columns are the body's axes, seen from the world.
  EXPECT_THAT(matrix_of({h, h, 0, 0}),
              Pointwise(FloatNear(1e-6F), std::vector<float>{1, 0, 0, 0, 0, -1, 0, 1, 0}));
  EXPECT_THAT(matrix_of({h, 0, h, 0}),
              Pointwise(FloatNear(1e-6F), std::vector<float>{0, 0, 1, 0, 1, 0, -1, 0, 0}));
  EXPECT_THAT(matrix_of({h, 0, 0, h}),
              Pointwise(FloatNear(1e-6F), std::vector<float>{0, -1, 0, 1, 0, 0, 0, 0, 1}));
}

TEST(RotationTest, BothSignsOfAQuaternionAreOneRotation) {
  EXPECT_EQ(matrix_of({0.5F, 0.5F, 0.5F, 0.5F}), matrix_of({-0.5F, -0.5F, -0.5F, -0.5F}));
}

}  // namespace
}  // namespace leapp::importing
