#include "base/strided_copy.h"

#include <gmock/gmock.h>

#include <array>
#include <numeric>
#include <vector>

namespace leapp {
namespace {

using ::testing::ElementsAre;
using Numbers = std::vector<std::int64_t>;

class StridedCopyTest : public ::testing::Test {
 protected:
  StridedCopyTest() { std::iota(values_.begin(), values_.end(), 0.0F); }

  // Shape and strides count elements; the first element is values_[first].
  StridedElements elements(const Numbers& shape, const Numbers& strides, std::size_t first = 0) {
    shape_ = shape;
    strides_.clear();
    for (const std::int64_t stride : strides) {
      strides_.push_back(stride * static_cast<std::int64_t>(sizeof(float)));
    }
    return {&values_[first], shape_, strides_, sizeof(float)};
  }
  std::vector<float> copy(const StridedElements& given, std::size_t count) {
    std::vector<float> to(count, -1.0F);
    copy_strided(given, to.data());
    return to;
  }

  std::array<float, 6> values_ = {};
  Numbers shape_;
  Numbers strides_;
};

TEST_F(StridedCopyTest, WritesRowByRow) {
  EXPECT_THAT(copy(elements({2, 3}, {3, 1}), 6), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(copy(elements({3, 2}, {1, 3}), 6), ElementsAre(0, 3, 1, 4, 2, 5)) << "transposed";
  EXPECT_THAT(copy(elements({3}, {2}), 3), ElementsAre(0, 2, 4)) << "every second one";
  EXPECT_THAT(copy(elements({3}, {-1}, 2), 3), ElementsAre(2, 1, 0)) << "backwards";
  EXPECT_THAT(copy(elements({2, 2}, {0, 1}), 4), ElementsAre(0, 1, 0, 1)) << "broadcast";
  EXPECT_THAT(copy(elements({}, {}, 4), 1), ElementsAre(4)) << "a scalar";
}

TEST_F(StridedCopyTest, WritesNothingIfThereIsNothing) {
  EXPECT_THAT(copy(elements({2, 0}, {1, 1}), 1), ElementsAre(-1));
}

TEST_F(StridedCopyTest, KnowsWhatIsContiguous) {
  EXPECT_TRUE(is_contiguous(elements({2, 3}, {3, 1})));
  EXPECT_TRUE(is_contiguous(elements({}, {})));
  EXPECT_TRUE(is_contiguous(elements({1, 3}, {7, 1}))) << "one row has no distance to another";
  EXPECT_TRUE(is_contiguous(elements({2, 0}, {9, 9})));
  EXPECT_FALSE(is_contiguous(elements({3, 2}, {1, 3})));
  EXPECT_FALSE(is_contiguous(elements({3}, {2})));
  EXPECT_FALSE(is_contiguous(elements({2, 2}, {0, 1})));
}

}  // namespace
}  // namespace leapp
