#include "base/cpp_symbol.h"

#include <gtest/gtest.h>

namespace leapp {
namespace {

TEST(CppSymbol, IsAnIdentifierOfItsOwnForEveryName) {
  EXPECT_EQ(cpp_symbol("policy"), "leapp_cpp_policy");
  EXPECT_EQ(cpp_symbol("left arm"), "leapp_cpp_left_20arm");
  EXPECT_EQ(cpp_symbol("left_arm"), "leapp_cpp_left_5farm");
  EXPECT_EQ(cpp_symbol("é"), "leapp_cpp__c3_a9");
}

}  // namespace
}  // namespace leapp
