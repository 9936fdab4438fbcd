#include "base/unused_name.h"

#include <gtest/gtest.h>

#include <set>

namespace leapp {
namespace {

TEST(UnusedName, IsTheWishOrTheFirstFreeNumber) {
  const std::set<std::string> taken = {"h", "h_1", "h_3"};
  const auto is_taken = [&](const std::string& name) { return taken.contains(name); };
  EXPECT_EQ(unused_name("x", is_taken), "x");
  EXPECT_EQ(unused_name("h", is_taken), "h_2");
  EXPECT_EQ(unused_name("h_1", is_taken), "h_1_1");
}

TEST(UsedNames, HandOutEachNameOnce) {
  UsedNames names;
  names.add("add_1");
  EXPECT_EQ(names.take("add"), "add");
  EXPECT_EQ(names.take("add"), "add_2");
  EXPECT_EQ(names.take("add"), "add_3");
  EXPECT_EQ(names.take("add_2"), "add_2_1");
}

}  // namespace
}  // namespace leapp
