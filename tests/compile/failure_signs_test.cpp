#include "compile/failure_signs.h"

#include <gmock/gmock.h>

namespace leapp::compile {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

Diagnostic sign_of(const std::string& node, Code code = Code::kPassesDiffer) {
  return {.code = code, .where = "policy.py:4", .node = node, .text = "it differs"};
}

TEST(FailureSignsTest, AreTakenOutOfOtherFindings) {
  FailureSigns signs;
  std::vector<Diagnostic> findings = {sign_of("a"), sign_of("a", Code::kNumber),
                                      sign_of("a", Code::kUnknownSource)};
  signs.hold_from(findings);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].code, Code::kNumber);
  EXPECT_THAT(signs.release({}), SizeIs(2));
}

TEST(FailureSignsTest, OfAFailedNodeAreNamedOnce) {
  FailureSigns signs;
  std::vector<Diagnostic> findings = {sign_of("good"), sign_of("bad"), sign_of("bad")};
  signs.hold_from(findings);
  const std::vector<NodeOutcome> outcomes = {{.node = "good"}, {.node = "bad", .passed = false}};
  EXPECT_EQ(signs.first(outcomes), "First sign: policy.py:4: it differs.");
  std::vector<Diagnostic> sentence = {sign_of("bad")};
  sentence[0].text = "It differs.";
  FailureSigns other;
  other.hold_from(sentence);
  EXPECT_EQ(other.first(outcomes), "First sign: policy.py:4: It differs.");
  const std::vector<Diagnostic> released = signs.release(outcomes);
  ASSERT_THAT(released, SizeIs(3));
  EXPECT_EQ(released[0].level, LogLevel::kWarning);
  EXPECT_EQ(released[1].level, LogLevel::kInfo);
  EXPECT_EQ(released[2].level, LogLevel::kInfo);
  EXPECT_THAT(signs.release(outcomes), IsEmpty());
}

TEST(FailureSignsTest, StayWarningsIfNothingFailed) {
  FailureSigns signs;
  std::vector<Diagnostic> findings = {sign_of("good")};
  signs.hold_from(findings);
  EXPECT_THAT(signs.first({}), IsEmpty());
  EXPECT_EQ(signs.release({{.node = "good"}}).at(0).level, LogLevel::kWarning);
}

}  // namespace
}  // namespace leapp::compile
