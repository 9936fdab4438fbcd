#include "leapp/result.h"

#include <gmock/gmock.h>

#include <type_traits>

namespace leapp {
namespace {

static_assert(std::is_trivially_copyable_v<Failure>);

TEST(ResultTest, HoldsAValue) {
  Result<int> result = 3;
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, 3);
  EXPECT_EQ(result.value(), 3);
}

TEST(ResultTest, FailureIsThrownByValueAlone) {
  Result<void> result = Failure(Code::kNotFinite, {"policy/obs", " is ", "NaN"});
  EXPECT_FALSE(result);
  EXPECT_EQ(result.failure().code(), Code::kNotFinite);
  EXPECT_EQ(result.failure().kind(), ErrorKind::kValue);
  EXPECT_EQ(result.failure().message(), "policy/obs is NaN [LP606]");
  EXPECT_EQ(result.failure().text(), "policy/obs is NaN");
  try {
    result.value();
    FAIL() << "value() did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNotFinite);
    EXPECT_STREQ(error.what(), "policy/obs is NaN [LP606]");
  }
}

TEST(ResultTest, LongTextIsCutAndKeepsItsCode) {
  const std::string text(2 * Failure::kCapacity, 'x');
  const std::string tag = " [LP005]";
  EXPECT_EQ(Failure(Code::kIo, {"a", text}).message(),
            "a" + text.substr(0, Failure::kCapacity - 1 - tag.size()) + tag);
}

}  // namespace
}  // namespace leapp
