#include "compile/refusals.h"

#include <gtest/gtest.h>

#include "leapp/error.h"

namespace leapp::compile {
namespace {

const Diagnostic kRates{.code = Code::kRates, .node = "plan", .text = "at other rates"};
const Diagnostic kOther{.code = Code::kFoundState, .node = "plan", .text = "state"};

TEST(RefusalsTest, AStrictOneThrows) {
  try {
    Refusals(true).add(kRates);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kRates);
  }
}

TEST(RefusalsTest, OthersFailTheirNodes) {
  Refusals refusals(false);
  refusals.add(kRates);
  EXPECT_EQ(refusals.all(), std::vector{kRates});
  std::vector<NodeOutcome> outcomes = {{.node = "track"}, {.node = "plan"}};
  refusals.fail(outcomes);
  EXPECT_TRUE(outcomes[0].passed);
  EXPECT_FALSE(outcomes[1].passed);
  EXPECT_EQ(outcomes[1].difference, kRates.text);
  std::vector<NodeOutcome> none;  // nothing was validated
  refusals.fail(none);
  ASSERT_EQ(none.size(), 1U);
  EXPECT_FALSE(none[0].passed);
}

TEST(RefusalsTest, AScheduleAccountsForRates) {
  for (const bool has_schedule : {true, false}) {
    Refusals refusals(false);
    std::vector<Diagnostic> findings = {kOther, kRates};
    refusals.take_from(findings, has_schedule);
    EXPECT_EQ(findings, std::vector{kOther});
    EXPECT_EQ(refusals.all().empty(), has_schedule);
  }
}

TEST(RefusalsTest, AScheduleDoesNotAccountForArraysOfOtherCode) {
  for (const Code code : {Code::kForeignValue, Code::kWrittenArray}) {
    Refusals refusals(false);
    std::vector<Diagnostic> findings = {kOther, {.code = code, .node = "plan", .text = "array"}};
    refusals.take_from(findings, true);
    EXPECT_EQ(findings, std::vector{kOther});
    EXPECT_EQ(refusals.all().size(), 1U);
  }
}

}  // namespace
}  // namespace leapp::compile
