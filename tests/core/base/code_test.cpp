#include "leapp/code.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "leapp/error.h"

namespace leapp {
namespace {

TEST(Code, IsWrittenWithThreeDigits) {
  EXPECT_EQ(to_string(Code::kUsage), "LP007");
  EXPECT_EQ(to_string(Code::kNoOnnx), "LP502");
  EXPECT_EQ(to_string(rule(7)), "B7");
  EXPECT_EQ(to_string(rule(23)), "B23");
}

TEST(Code, EndsASentenceUnlessItIsARule) {
  EXPECT_EQ(tag_of(Code::kObserverTaken), " [LP104]");
  EXPECT_EQ(tag_of(rule(7)), "");
}

TEST(Code, DecidesWhichExceptionAnErrorIs) {
  EXPECT_EQ(kind_of(Code::kInternal), ErrorKind::kInternal);
  EXPECT_EQ(kind_of(Code::kStillTracing), ErrorKind::kUsage);
  EXPECT_EQ(kind_of(Code::kTwoThreads), ErrorKind::kUsage);
  EXPECT_EQ(kind_of(Code::kPortType), ErrorKind::kType);
  EXPECT_EQ(kind_of(Code::kPortShape), ErrorKind::kValue);
  EXPECT_EQ(kind_of(rule(7)), ErrorKind::kValue);
  EXPECT_EQ(kind_of(Code::kNoNormalizer), ErrorKind::kValue);
  EXPECT_EQ(kind_of(Code::kNoEngine), ErrorKind::kNotFound);
  EXPECT_EQ(kind_of(Code::kIo), ErrorKind::kIo);
  EXPECT_EQ(kind_of(Code::kNoOnnx), ErrorKind::kExport);
  EXPECT_EQ(kind_of(Code::kValidationFailed), ErrorKind::kValidation);
}

TEST(Error, SaysItsCodeOnceAtTheEnd) {
  const Error error(Code::kBadModel, "the model is cut short");
  EXPECT_STREQ(error.what(), "the model is cut short [LP617]");
  EXPECT_EQ(error.text(), "the model is cut short");
  const Error wrapped = error.behind("walker.yaml:3:5: ");
  EXPECT_EQ(wrapped.code(), Code::kBadModel);
  EXPECT_STREQ(wrapped.what(), "walker.yaml:3:5: the model is cut short [LP617]");
}

TEST(Error, OfARuleHasItsLabelWhereTheFieldIs) {
  const Error error(rule(7), "w.yaml:3:5: [B7] models.a: what");
  EXPECT_STREQ(error.what(), "w.yaml:3:5: [B7] models.a: what");
  EXPECT_EQ(error.text(), error.what());
}

TEST(Error, OfOurOwnAsksForAReport) {
  try {
    demand(false, "two is three");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInternal);
    EXPECT_STREQ(error.what(), "internal error in LEAPP, please report it: two is three [LP001]");
  }
}

}  // namespace
}  // namespace leapp
