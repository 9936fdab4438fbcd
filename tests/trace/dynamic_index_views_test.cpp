#include "trace/dynamic_index_views.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tape_writer.h"

namespace leapp::trace {
namespace {

using at::Tensor;
using testing::TapeWriter;

Tensor number(std::int64_t value) {
  return at::scalar_tensor(value, at::kLong);
}

TEST(DynamicIndexViewsTest, ReadsAndWritesLikePlainIndexing) {
  const Tensor table = at::arange(24, at::kFloat).reshape({2, 3, 4});
  const Tensor last = number(-1);
  const Tensor one = at::scalar_tensor(1, at::kInt);
  EXPECT_TRUE(at::equal(index_copy(table, {1}, {last}), table.select(1, 2)));
  EXPECT_TRUE(at::equal(index_copy(table, {0, 2}, {one, last}), table[1].select(1, 3)));

  const Tensor value = at::zeros({3});
  index_write(table, {0, 2}, {one, last}, value);
  EXPECT_TRUE(at::equal(table[1].select(1, 3), value));
  EXPECT_EQ(table.select(1, 0).count_nonzero().item<int>(), 6);  // of 8
}

// Returns the first row of a table, on a tape that has the table.
struct OneView {
  OneView() {
    writer.input(table);
    copy = writer.mul(table[0], at::ones({2}));
    views.add(*writer.tape, {copy, table, {0}, {index}});
  }
  std::optional<DynamicIndexViews::Step> next() { return views.next_step(*writer.tape, nullptr); }

  TapeWriter writer;
  DynamicIndexViews views;
  Tensor table = at::arange(6, at::kFloat).reshape({3, 2});
  Tensor index = number(0);
  Tensor copy;
};

TEST(DynamicIndexViewsTest, NothingIsToDoWhileBothSidesAreEqual) {
  OneView one;
  EXPECT_FALSE(one.next());
  EXPECT_FALSE(one.views.empty());
}

TEST(DynamicIndexViewsTest, AWriteToTheCopyGoesBack) {
  OneView one;
  one.writer.add_in_place(one.copy, at::ones({2}));
  const auto step = one.next();
  ASSERT_TRUE(step);
  EXPECT_TRUE(step->to_source);
  step->run();
  EXPECT_TRUE(at::equal(one.table[0], one.copy));
  one.views.finish(*one.writer.tape, *step);
  EXPECT_FALSE(one.next());
}

TEST(DynamicIndexViewsTest, AWriteToTheSourceReachesTheCopy) {
  OneView one;
  one.writer.zero(one.table);
  const auto step = one.next();
  ASSERT_TRUE(step);
  EXPECT_FALSE(step->to_source);
  step->run();
  EXPECT_TRUE(at::equal(one.copy, at::zeros({2})));
}

TEST(DynamicIndexViewsTest, OnlyMemoryThatIsTouchedMatters) {
  OneView one;
  one.writer.add_in_place(one.copy, at::ones({2}));
  const Tensor other = at::ones({2});
  for (const Tensor& each : {other, one.table}) {
    const std::vector touched = {memory_of(each)};
    EXPECT_EQ(one.views.next_step(*one.writer.tape, &touched).has_value(), each.is_same(one.table));
  }
}

TEST(DynamicIndexViewsTest, ACopyThatNobodyElseHoldsIsRemoved) {
  OneView one;
  one.copy.reset();
  EXPECT_FALSE(one.next());
  EXPECT_TRUE(one.views.empty());
}

TEST(DynamicIndexViewsTest, AStepOfAViewThatWasRemovedFinishesNothing) {
  OneView one;
  one.writer.add_in_place(one.copy, at::ones({2}));
  const auto step = one.next();
  ASSERT_TRUE(step);
  const std::int32_t before = step->view->equal_since;
  one.views.clear();
  one.views.finish(*one.writer.tape, *step);
  EXPECT_EQ(step->view->equal_since, before);
}

TEST(DynamicIndexViewsTest, OnlyAWriteBackToTheSamePlaceMakesBothSidesEqual) {
  OneView one;
  one.writer.add_in_place(one.copy, at::ones({2}));
  const trace::Tape& tape = *one.writer.tape;
  one.views.finish_write_back(tape, one.copy, one.table, {number(0)});
  one.views.finish_write_back(tape, one.copy, one.table[0], {one.index});
  one.views.finish_write_back(tape, one.table, one.table, {one.index});
  EXPECT_TRUE(one.next());
  one.views.finish_write_back(tape, one.copy, one.table, {one.index});
  EXPECT_FALSE(one.next());
}

}  // namespace
}  // namespace leapp::trace
