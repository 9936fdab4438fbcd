#include "ir/op_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "ir/graph_builder.h"

namespace leapp::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns the error of an exporter for an argument that it cannot read.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Arguments : public OpArguments {
 public:
  using OpArguments::OpArguments;

 private:
  [[noreturn]] void refuse(const std::string& reason) const override { throw Refused(reason); }
};

class OpArgumentsTest : public ::testing::Test {
 protected:
  // Returns a reader for an operator with one parameter, "x".
  Arguments holding(Argument argument) {
    ops_.push_back(std::make_unique<Op>(testing::op_of("aten::op(x)", {std::move(argument)})));
    return {graph_, *ops_.back()};
  }

  Graph graph_;
  std::vector<std::unique_ptr<Op>> ops_;
};

TEST_F(OpArgumentsTest, IntegerIsNeverRoundedInSilence) {
  EXPECT_EQ(holding(std::int64_t{-3}).integer("x"), -3);
  EXPECT_EQ(holding(true).integer("x"), 1);
  EXPECT_EQ(holding(2.0).integer("x"), 2);
  EXPECT_EQ(holding(-0x1p63).integer("x"), std::numeric_limits<std::int64_t>::min());
  for (const double number : {2.5, 0x1p63, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(holding(number).integer("x"), Refused) << number;
  }
  EXPECT_THROW(holding(std::complex<double>(2, 0)).integer("x"), Refused);
  EXPECT_THROW(holding(std::string("2")).integer("x"), Refused);
}

TEST_F(OpArgumentsTest, NumberIsAnyRealScalar) {
  EXPECT_EQ(holding(2.5).number("x"), 2.5);
  EXPECT_EQ(holding(std::int64_t{2}).number("x"), 2.0);
  EXPECT_EQ(holding(true).number("x"), 1.0);
  EXPECT_THROW(holding(std::complex<double>(2, 1)).number("x"), Refused);
}

TEST_F(OpArgumentsTest, NoneHasADefault) {
  const Arguments none = holding({});
  EXPECT_TRUE(none.is_none("x"));
  EXPECT_TRUE(none.is_none("another"));
  EXPECT_TRUE(holding(ValueRef{}).is_none("x"));
  EXPECT_FALSE(none.is_tensor("x"));
  EXPECT_EQ(none.value_of("x"), kNoValue);
  EXPECT_EQ(none.integer("x", 7), 7);
  EXPECT_EQ(none.number("x", 0.5), 0.5);
  EXPECT_FALSE(none.flag("x"));
  EXPECT_EQ(none.text("x"), "");
  EXPECT_EQ(none.dtype("x"), std::nullopt);
  EXPECT_THAT(none.ints("x"), IsEmpty());
  EXPECT_THAT(none.numbers("x"), IsEmpty());
  EXPECT_THAT(none.flags("x"), IsEmpty());
}

TEST_F(OpArgumentsTest, ListsReadWhatFitsIntoThem) {
  EXPECT_THAT(holding(std::int64_t{4}).ints("x"), ElementsAre(4));
  EXPECT_THAT(holding(std::vector<std::int64_t>{1, 2}).numbers("x"), ElementsAre(1.0, 2.0));
  EXPECT_THAT(holding(std::vector<double>{}).ints("x"), IsEmpty());
  EXPECT_THAT(holding(std::vector<bool>{true, false}).flags("x"), ElementsAre(true, false));
  EXPECT_THAT(holding(std::vector<ValueRef>{{3}, {kNoValue}}).values_of("x"),
              ElementsAre(3, kNoValue));
}

TEST_F(OpArgumentsTest, AnotherTypeIsRefused) {
  const Arguments number = holding(2.5);
  EXPECT_THROW(number.value_of("x"), Refused);
  EXPECT_THROW(number.values_of("x"), Refused);
  EXPECT_THROW(number.text("x"), Refused);
  EXPECT_THROW(number.dtype("x"), Refused);
  EXPECT_THROW(holding(std::string("2")).scalar_type("x"), Refused);
}

TEST_F(OpArgumentsTest, DimensionsCountFromTheFront) {
  EXPECT_EQ(holding(std::int64_t{-1}).dim("x", 3), 2);
  EXPECT_EQ(holding(std::int64_t{-1}).dim("x", 0), 0);  // a number counts as one dimension
  EXPECT_THAT(holding(std::vector<std::int64_t>{-1, 0}).dims("x", 3), ElementsAre(2, 0));
  EXPECT_THAT(holding({}).dims("x", 2), ElementsAre(0, 1));
  EXPECT_THAT(holding(std::vector<std::int64_t>{-1}).dims("x", 0), IsEmpty());
}

TEST_F(OpArgumentsTest, OperandsPromoteAsInPyTorch) {
  const ValueId whole = graph_.add_input("i", {DType::kInt32, {2}});
  const Op op = testing::op_of("aten::op(a, b)", {ValueRef{whole}, 2.5});
  EXPECT_EQ(Arguments(graph_, op).promoted({"a", "b"}), DType::kFloat32);
  const Op with_complex =
      testing::op_of("aten::op(a, b)", {ValueRef{whole}, std::complex<double>(0, 1)});
  EXPECT_EQ(Arguments(graph_, with_complex).promoted({"a", "b"}), DType::kComplex64);
  EXPECT_EQ(holding(std::int64_t{2}).scalar_type("x"), DType::kInt64);
}

}  // namespace
}  // namespace leapp::ir
