#include "export/cpp/index.h"

#include <gtest/gtest.h>

namespace leapp::cpp_export {
namespace {

TEST(CppIndex, IsASumOfTerms) {
  const Index row = Index::of("i1");
  const Index column = Index::of("i2");
  EXPECT_EQ(row.times(12).plus(column).plus(3).text(), "i1 * 12 + i2 + 3");
  EXPECT_EQ(Index(0).text(), "0");
  EXPECT_EQ(row.times(0).text(), "0");
  EXPECT_EQ(row.times(-1).plus(9).text(), "9 - i1");
  EXPECT_EQ(row.plus(-2).text(), "i1 - 2");
}

TEST(CppIndex, JoinsTermsOfOneVariable) {
  const Index twice = Index::of("i1").plus(Index::of("i1"));
  EXPECT_EQ(twice.text(), "i1 * 2");
  EXPECT_TRUE(twice.plus(Index::of("i1").times(-2)).is_number());
}

TEST(CppIndex, IsAnAtomInParentheses) {
  EXPECT_EQ(Index::of("i1").atom(), "i1");
  EXPECT_EQ(Index(4).atom(), "4");
  EXPECT_EQ(Index::of("i1").plus(1).atom(), "(i1 + 1)");
}

}  // namespace
}  // namespace leapp::cpp_export
