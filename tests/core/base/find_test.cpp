#include "base/find.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace leapp {
namespace {

struct Part {
  int number;
  std::string name;
};

TEST(FindTest, TheFirstThatFits) {
  std::vector<Part> parts = {{1, "a"}, {2, "b"}, {3, "b"}};
  EXPECT_EQ(find_in(parts, "b", &Part::name), &parts[1]);
  EXPECT_EQ(find_in(parts, "c", &Part::name), nullptr);
  EXPECT_EQ(find_where(parts, [](const Part& part) { return part.number > 2; }), &parts[2]);
  EXPECT_EQ(find_where(parts, [](const Part& part) { return part.number > 3; }), nullptr);
  EXPECT_EQ(index_in(parts, 3, &Part::number), 2u);
  EXPECT_EQ(index_in(parts, 4, &Part::number), std::nullopt);
}

TEST(FindTest, WhatIsFoundMayBeChanged) {
  std::vector<int> numbers = {1, 2};
  *find_in(numbers, 2) = 5;
  EXPECT_EQ(numbers, (std::vector<int>{1, 5}));
}

}  // namespace
}  // namespace leapp
