#include "runtime/buffers.h"

#include <gmock/gmock.h>

#include <array>
#include <cstdint>

namespace leapp {
namespace {

using ::testing::Each;

const std::vector<PlannedValue> kValues = {{"n/x", DType::kFloat32, {1, 4}, false},
                                           {"n/h", DType::kFloat64, {3}, true},
                                           {"n/e", DType::kInt64, {0}, false}};

TEST(BuffersTest, AreAlignedZeroAndApart) {
  const Buffers buffers(kValues, nullptr);
  EXPECT_EQ(buffers.byte_size(0), 16u);
  EXPECT_EQ(buffers.byte_size(1), 24u);
  EXPECT_EQ(buffers.byte_size(2), 0u);
  for (std::size_t half = 0; half < 2; ++half) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffers.view(0, half).data) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffers.view(1, half).data) % 64, 0u);
    EXPECT_THAT(buffers.view(1, half).values<double>(), Each(0));
  }
  EXPECT_EQ(buffers.view(0, 0).data, buffers.view(0, 1).data);
  EXPECT_NE(buffers.view(1, 0).data, buffers.view(1, 1).data);
  buffers.view(1, 0).values<double>()[2] = 5;
  EXPECT_THAT(buffers.view(1, 1).values<double>(), Each(0));
  EXPECT_THAT(buffers.view(0, 0).values<float>(), Each(0));
}

TEST(BuffersTest, AValueMayLieInTheCallersMemoryAndComeBack) {
  Buffers buffers(kValues, nullptr);
  void* const own = buffers.view(0, 0).data;
  std::array<float, 4> mine{1, 2, 3, 4};
  buffers.place(0, mine.data());
  EXPECT_EQ(buffers.view(0, 0).data, mine.data());
  EXPECT_EQ(buffers.view(0, 1).data, mine.data());
  buffers.place(0, nullptr);
  EXPECT_EQ(buffers.view(0, 0).data, own);
  EXPECT_EQ(buffers.view(0, 1).data, own);
}

TEST(BuffersTest, ViewsStayWhenTheyMove) {
  Buffers first(kValues, nullptr);
  void* const data = first.view(1, 1).data;
  const Buffers second = std::move(first);
  EXPECT_EQ(second.view(1, 1).data, data);
}

}  // namespace
}  // namespace leapp
