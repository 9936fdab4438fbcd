#include "leapp/code.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

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

// The exception class of each code in Python, and its status in C. Programs catch by these.
TEST(Code, DecidesWhichExceptionAnErrorIs) {
  const std::vector<std::pair<ErrorKind, std::vector<Code>>> table = {
      {ErrorKind::kInternal, {Code::kInternal}},
      {ErrorKind::kType,
       {Code::kWrongType, Code::kNotDense, Code::kPayload, Code::kUnsupportedType,
        Code::kPortType}},
      {ErrorKind::kValue,
       {Code::kWrongValue,
        Code::kMirrorMismatch,
        Code::kNothingToExport,
        Code::kBadName,
        Code::kUnknownBackend,
        Code::kOwnModel,
        Code::kConverterName,
        Code::kUnknownPort,
        Code::kPortShape,
        Code::kMissingInput,
        Code::kStaleInput,
        Code::kNotFinite,
        Code::kBadBinding,
        Code::kTickFailed,
        Code::kWrongEngine,
        Code::kNoProvider,
        Code::kModelMismatch,
        Code::kBadModel,
        Code::kUnsupportedBackend,
        Code::kRuntimeOptions,
        Code::kNotMerged,
        Code::kDeviceFailed,
        Code::kNotTrusted,
        Code::kRobotFile,
        Code::kNotBound,
        Code::kControllerOptions,
        Code::kRecording,
        Code::kSupervision,
        Code::kNoCheckpoint,
        Code::kNoNormalizer,
        rule(1),
        rule(7),
        rule(43)}},
      {ErrorKind::kNotFound, {Code::kNotFound, Code::kNoEngine}},
      {ErrorKind::kIo, {Code::kIo, Code::kNoMemory, Code::kNotDrawn, Code::kTimeline}},
      {ErrorKind::kExport,
       {Code::kNotPure, Code::kNoOnnx, Code::kChanged, Code::kNoTorchScript, Code::kPortNamesClash,
        Code::kComplexPort, Code::kOpset, Code::kBadConverter, Code::kNotTranslated, Code::kNoCpp,
        Code::kNoCompiler}},
      {ErrorKind::kValidation,
       {Code::kValidationFailed, Code::kNotRepeated, Code::kNothingCompared,
        Code::kCounterExample}},
      {ErrorKind::kUsage,
       {Code::kUsage, Code::kNoSession, Code::kStillTracing, Code::kTwoThreads, Code::kBoundPort,
        Code::kFewerGolden, Code::kShadowDiffers, Code::kShadowReset, Code::kNotShadowed,
        Code::kBakedIn, Code::kNoTracing, Code::kOtherTorch}},
  };
  for (const auto& [kind, codes] : table) {
    for (const Code code : codes) EXPECT_EQ(kind_of(code), kind) << to_string(code);
  }
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
