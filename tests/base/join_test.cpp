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

}  // namespace
}  // namespace leapp
