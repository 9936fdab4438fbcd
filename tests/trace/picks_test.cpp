// Elements chosen by a number behave as views, though the graph has copies of them.
#include "trace/picks.h"

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

TEST(PicksTest, TakesAndPutsWhatPlainIndexingDoes) {
  const Tensor table = at::arange(24, at::kFloat).reshape({2, 3, 4});
  const Tensor last = number(-1);
  const Tensor one = at::scalar_tensor(1, at::kInt);
  EXPECT_TRUE(at::equal(take(table, {1}, {last}), table.select(1, 2)));
  EXPECT_TRUE(at::equal(take(table, {0, 2}, {one, last}), table[1].select(1, 3)));

  const Tensor value = at::zeros({3});
  put(table, {0, 2}, {one, last}, value);
  EXPECT_TRUE(at::equal(table[1].select(1, 3), value));
  EXPECT_EQ(table.select(1, 0).count_nonzero().item<int>(), 6);  // of 8: 0 was there before
}

// The first row of a table, and the tape both are on.
struct OnePick {
  OnePick() {
    writer.input(table);
    copy = writer.mul(table[0], at::ones({2}));
    picks.add(*writer.tape, {copy, table, {0}, {index}});
  }
  std::optional<Picks::Step> next() { return picks.next(*writer.tape, nullptr); }

  TapeWriter writer;
  Picks picks;
  Tensor table = at::arange(6, at::kFloat).reshape({3, 2});
  Tensor index = number(0);
  Tensor copy;
};

TEST(PicksTest, ThereIsNothingToDoWhileBothSidesAgree) {
  OnePick made;
  EXPECT_FALSE(made.next());
  EXPECT_FALSE(made.picks.empty());
}

TEST(PicksTest, AWriteToTheCopyGoesBack) {
  OnePick made;
  made.writer.add_in_place(made.copy, at::ones({2}));
  const auto step = made.next();
  ASSERT_TRUE(step);
  EXPECT_TRUE(step->back);
  step->take();
  EXPECT_TRUE(at::equal(made.table[0], made.copy));
  Picks::agree(*made.writer.tape, *step->pick);
  EXPECT_FALSE(made.next());
}

TEST(PicksTest, AWriteToTheTensorReachesTheCopy) {
  OnePick made;
  made.writer.zero(made.table);
  const auto step = made.next();
  ASSERT_TRUE(step);
  EXPECT_FALSE(step->back);
  step->take();
  EXPECT_TRUE(at::equal(made.copy, at::zeros({2})));
}

TEST(PicksTest, OnlyMemoryThatIsTouchedMatters) {
  OnePick made;
  made.writer.add_in_place(made.copy, at::ones({2}));
  const Tensor other = at::ones({2});
  for (const Tensor& each : {other, made.table}) {
    const std::vector touched = {memory_of(each)};
    EXPECT_EQ(made.picks.next(*made.writer.tape, &touched).has_value(), each.is_same(made.table));
  }
}

TEST(PicksTest, ACopyThatNobodyHoldsIsForgotten) {
  OnePick made;
  made.copy.reset();
  EXPECT_FALSE(made.next());
  EXPECT_TRUE(made.picks.empty());
}

TEST(PicksTest, FindsThePickOfACopyByWhatChoseIt) {
  OnePick made;
  EXPECT_NE(made.picks.find(made.copy, made.table, {made.index}), nullptr);
  EXPECT_EQ(made.picks.find(made.copy, made.table, {number(0)}), nullptr);
  EXPECT_EQ(made.picks.find(made.copy, made.table[0], {made.index}), nullptr);
  EXPECT_EQ(made.picks.find(made.table, made.table, {made.index}), nullptr);
}

}  // namespace
}  // namespace leapp::trace
