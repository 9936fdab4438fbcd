#include "leapp/result.h"

#include <gmock/gmock.h>

namespace leapp {
namespace {

TEST(ResultTest, HoldsAValue) {
  Result<int> result = 3;
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, 3);
  EXPECT_EQ(result.value(), 3);
}

TEST(ResultTest, FailureIsThrownByValueAlone) {
  Result<void> result = Failure(ErrorKind::kValue, {"policy/obs", " is ", "NaN"});
  EXPECT_FALSE(result);
  EXPECT_EQ(result.failure().message(), "policy/obs is NaN");
  try {
    result.value();
    FAIL() << "value() did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kValue);
    EXPECT_STREQ(error.what(), "policy/obs is NaN");
  }
}

TEST(ResultTest, LongTextIsCut) {
  const std::string text(2 * Failure::kCapacity, 'x');
  EXPECT_EQ(Failure(ErrorKind::kIo, {"a", text}).message(),
            "a" + text.substr(0, Failure::kCapacity - 1));
}

}  // namespace
}  // namespace leapp
