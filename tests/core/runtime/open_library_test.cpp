#include "runtime/open_library.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace leapp {
namespace {

using ::testing::HasSubstr;

TEST(OpenLibraryTest, OpensALibraryOfTheSystem) {
  std::string tried;
  EXPECT_NE(open_library("libm.so.6", tried), nullptr);
  EXPECT_EQ(tried, "");
}

TEST(OpenLibraryTest, NamesEveryPlaceThatWasTried) {
  const char* const before = std::getenv("LEAPP_ENGINE_PATH");
  const std::string former = before == nullptr ? "" : before;
  setenv("LEAPP_ENGINE_PATH", "/first::/second", 1);
  std::string tried;
  EXPECT_EQ(open_library("libleapp_none.so", tried), nullptr);
  EXPECT_THAT(tried, HasSubstr("/first/libleapp_none.so"));
  EXPECT_THAT(tried, HasSubstr("/second/libleapp_none.so"));
  EXPECT_THAT(tried, ::testing::ContainsRegex("\n  libleapp_none.so"));
  setenv("LEAPP_ENGINE_PATH", former.c_str(), 1);
}

TEST(OpenLibraryTest, APathIsOpenedAsItIs) {
  std::string tried;
  EXPECT_EQ(open_library("/nowhere/libleapp_none.so", tried), nullptr);
  EXPECT_EQ(tried.find('\n'), tried.rfind('\n'));
}

}  // namespace
}  // namespace leapp
