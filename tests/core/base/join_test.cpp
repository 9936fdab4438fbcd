#include "base/join.h"

#include <gtest/gtest.h>

#include <vector>

namespace leapp {
namespace {

struct Named {
  std::string name;
};

TEST(JoinTest, NamesStandOneAfterTheOther) {
  EXPECT_EQ(join(std::vector<std::string>{"a", "b"}), "a, b");
  EXPECT_EQ(join_quoted(std::vector<Named>{{"a"}, {"b"}}, &Named::name), "'a', 'b'");
  EXPECT_EQ(join_quoted(std::vector<std::string>{}), "none");
}

TEST(JoinTest, ManyAndLongNamesAreShortened) {
  const std::string text = join(std::vector<std::string>(1000, "a"));
  EXPECT_TRUE(text.ends_with(", .. and 936 more")) << text;
  EXPECT_LT(text.size(), 250U);
  EXPECT_EQ(join(std::vector<std::string>{std::string(300, 'x')}), std::string(200, 'x') + "..");
}

}  // namespace
}  // namespace leapp
