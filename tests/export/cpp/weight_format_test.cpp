#include "export/cpp/weight_format.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "leapp/error.h"

namespace leapp::cpp_export {
namespace {

ir::Blob blob_of(const std::vector<float>& values, Shape shape) {
  const std::shared_ptr<std::byte[]> bytes(new std::byte[values.size() * sizeof(float)]);
  std::memcpy(bytes.get(), values.data(), values.size() * sizeof(float));
  ir::Blob blob;
  blob.data = std::shared_ptr<const std::byte>(bytes, bytes.get());
  blob.type = {DType::kFloat32, std::move(shape), "cpu"};
  return blob;
}

TEST(WeightFormat, HasThreeNames) {
  EXPECT_EQ(parse_weight_format("float32"), WeightFormat::kFloat32);
  EXPECT_EQ(parse_weight_format("bf16"), WeightFormat::kBFloat16);
  EXPECT_EQ(parse_weight_format("int8"), WeightFormat::kInt8);
  EXPECT_THROW(parse_weight_format("int4"), Error);
}

TEST(WeightFormat, BFloat16IsTheNearestOne) {
  const float tie = 1.00390625F;  // between 1 and 1.0078125: rounds to even
  const std::vector<float> given = {1.0F,    -2.5F, tie,
                                    3.0e38F, 0.1F,  std::numeric_limits<float>::quiet_NaN()};
  const ir::Blob blob = to_bfloat16(blob_of(given, {6}));
  std::vector<float> found;
  for (int i = 0; i < 6; ++i) {
    found.push_back(std::bit_cast<float>(std::uint32_t{blob.as<std::uint16_t>()[i]} << 16U));
  }
  EXPECT_EQ(found[0], 1.0F);
  EXPECT_EQ(found[1], -2.5F);
  EXPECT_EQ(found[2], 1.0F);
  EXPECT_NEAR(found[4], 0.1F, 0.1F / 256);
  EXPECT_TRUE(std::isnan(found[5]));
}

TEST(WeightFormat, Int8KeepsEachRowsLargestNumber) {
  const Int8Weights small = to_int8(blob_of({0.5F, -1.0F, 0.25F, 0.0F, 0.0F, 0.0F}, {2, 3}));
  EXPECT_FLOAT_EQ(small.scales.as<float>()[0], 1.0F / 127);
  EXPECT_EQ(small.scales.as<float>()[1], 0.0F);
  EXPECT_EQ(small.values.as<std::int8_t>()[0], 64);
  EXPECT_EQ(small.values.as<std::int8_t>()[1], -127);
  EXPECT_EQ(small.values.as<std::int8_t>()[2], 32);
  EXPECT_EQ(small.values.as<std::int8_t>()[4], 0);
}

}  // namespace
}  // namespace leapp::cpp_export
