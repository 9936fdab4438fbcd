#include "runtime/engines/operators.h"

#include <gtest/gtest.h>

namespace leapp {
namespace {

TEST(OperatorsTest, WhatComputesIsListed) {
  for (const char* name : {"add", "linear", "gru", "softmax", "zeros_like", "where"}) {
    EXPECT_TRUE(only_computes(name)) << name;
  }
}

TEST(OperatorsTest, WhatComputesInPlaceComputes) {
  EXPECT_TRUE(only_computes("add_"));
  EXPECT_TRUE(only_computes("clamp_"));
  EXPECT_FALSE(only_computes("_"));
  EXPECT_FALSE(only_computes("add__"));
}

TEST(OperatorsTest, WhatReachesOtherMemoryFilesOrThreadsIsNot) {
  for (const char* name : {"from_file", "save", "warn", "set_", "fork", "", "Add"}) {
    EXPECT_FALSE(only_computes(name)) << name;
  }
}

TEST(OperatorsTest, WordsThatActAreKnown) {
  EXPECT_TRUE(is_action("print"));
  EXPECT_TRUE(is_action("rpc_sync"));
  EXPECT_FALSE(is_action("printed"));
  EXPECT_FALSE(is_action("return"));
}

}  // namespace
}  // namespace leapp
