#include "base/cpp_symbol.h"

#include <gtest/gtest.h>

#include <string>

namespace leapp {
namespace {

TEST(CppSymbol, IsAnIdentifierOfItsOwnForEveryName) {
  EXPECT_EQ(cpp_symbol("policy"), "leapp_cpp_policy");
  EXPECT_EQ(cpp_symbol("left arm"), "leapp_cpp_left_20arm");
  EXPECT_EQ(cpp_symbol("left_arm"), "leapp_cpp_left_5farm");
  EXPECT_EQ(cpp_symbol("é"), "leapp_cpp__c3_a9");
}

TEST(CppSymbol, OfALongNameFitsIntoAFileName) {
  const std::string name(300, '-');
  EXPECT_LE(cpp_symbol(name).size(), 200U);
  EXPECT_NE(cpp_symbol(name), cpp_symbol(name + "-"));
  EXPECT_NE(cpp_symbol(name + "-"), cpp_symbol(name + "+"));
}

}  // namespace
}  // namespace leapp
