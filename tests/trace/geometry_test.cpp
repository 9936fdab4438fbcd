// Tests of the position of tensors in memory, with tables of views.
#include "trace/geometry.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

namespace leapp::trace {
namespace {

class GeometryTest : public ::testing::Test {
 protected:
  const at::Tensor rows_ = at::arange(12).view({3, 4}).clone();
  const at::Tensor left_ = rows_.slice(1, 0, 2);
  const at::Tensor right_ = rows_.slice(1, 2, 4);
};

TEST_F(GeometryTest, OneTensorCoversAnotherWhereItHasAllOfItsElements) {
  const struct {
    const char* what;
    at::Tensor whole, part;
    bool covers;
  } table[] = {
      {"itself", rows_, rows_, true},
      {"a part", rows_, left_, true},
      {"the whole by a part", left_, rows_, false},
      {"a row by rows", rows_.slice(0, 1), rows_[2], true},
      {"a row by other rows", rows_.slice(0, 1), rows_[0], false},
      {"columns between columns", left_, rows_.slice(1, 1, 2), false},
      {"a transposed part", rows_.t(), left_, true},
      {"nothing", left_, rows_.slice(0, 3), true},
      {"something by nothing", rows_.slice(0, 3), left_, false},
  };
  for (const auto& line : table) EXPECT_EQ(covers(line.whole, line.part), line.covers) << line.what;
}

TEST_F(GeometryTest, TensorsShareElementsNotMemoryAlone) {
  const struct {
    const char* what;
    at::Tensor a, b;
    bool share;
  } table[] = {
      {"the whole and a part", rows_, left_, true},
      {"columns side by side", left_, right_, false},
      {"columns that overlap", left_, rows_.slice(1, 1, 3), true},
      {"every other column", rows_.slice(1, 0, 4, 2), rows_.slice(1, 1, 4, 2), false},
      {"a row and a column", rows_[1], rows_.select(1, 3), true},
      {"rows", rows_[0], rows_[2], false},
      {"other memory", rows_, rows_.clone(), false},
      {"nothing", rows_, rows_.slice(0, 3), false},
  };
  for (const auto& line : table) {
    EXPECT_EQ(share_elements(line.a, line.b), line.share) << line.what;
    EXPECT_EQ(share_elements(line.b, line.a), line.share) << line.what;
  }
}

TEST_F(GeometryTest, TheWholeIsATensorOfTheProgramsIfOneHasBoth) {
  EXPECT_TRUE(whole_of(left_, rows_).is_same(rows_));
  EXPECT_TRUE(whole_of(rows_, left_).is_same(rows_));
  EXPECT_TRUE(whole_of(left_, right_).is_same(rows_));  // their bases
}

TEST_F(GeometryTest, ElseTheWholeIsAllOfTheMemory) {
  const c10::InferenceMode untold;  // the base of a tensor is unknown there
  const at::Tensor rows = at::arange(12).view({3, 4}).clone();
  const at::Tensor whole = whole_of(rows.slice(1, 0, 2), rows.slice(1, 2, 4));
  EXPECT_EQ(whole.sizes(), at::IntArrayRef{12});
  EXPECT_EQ(begin_of(whole), begin_of(rows));
}

TEST_F(GeometryTest, ThereIsNoWholeOfTensorsInDifferentMemory) {
  EXPECT_FALSE(whole_of(left_, right_.clone()).defined());
}

}  // namespace
}  // namespace leapp::trace
