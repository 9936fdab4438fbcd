#include "leapp/verification.h"

#include <gmock/gmock.h>

#include "leapp/tensor.h"

namespace leapp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

PortVerification check_of(float traced, float exported, const std::string& port = "pi/y",
                          bool wired = false) {
  const Tensor a({2}, {traced, 1.F});
  const Tensor b({2}, {exported, 1.F});
  return {port, 0, wired, compare_in_full(a.view(), b.view(), Tolerance{})};
}

TEST(VerificationTest, PassesIfAllThatWasComparedAgrees) {
  Verification verification{2, {check_of(1, 1), check_of(2, 2)}, {}};
  EXPECT_TRUE(verification.compared());
  EXPECT_TRUE(verification.passed());
  EXPECT_THAT(to_string(verification), HasSubstr("this machine repeats the 2 golden tick(s)"));
  EXPECT_THAT(to_json(verification), HasSubstr("\"ok\": true"));
  verification.checks.push_back(check_of(1, 1.5));
  EXPECT_FALSE(verification.passed());
  EXPECT_THAT(to_string(verification), HasSubstr("WRONG pi/y"));
  EXPECT_THAT(to_string(verification), HasSubstr("WRONG: not all of the 2 golden tick(s)"));
}

TEST(VerificationTest, NothingComparedIsNotPassed) {
  const Verification nothing{3, {}, {{"pi", "it draws random numbers"}}};
  EXPECT_FALSE(nothing.compared());
  EXPECT_FALSE(nothing.passed());
  EXPECT_THAT(to_string(nothing),
              HasSubstr("WRONG: no value of the 3 golden tick(s) could be compared"));
  EXPECT_THAT(to_string(nothing), HasSubstr("[LP949]"));
  EXPECT_THAT(to_string(nothing), Not(HasSubstr("this machine repeats")));
  EXPECT_THAT(to_json(nothing), HasSubstr("\"ok\": false"));
  // Tensors without elements do not verify anything either.
  const Tensor empty(DType::kFloat32, {0});
  const Verification of_nothing{
      1, {{"pi/y", 0, false, compare_in_full(empty.view(), empty.view(), Tolerance{})}}, {}};
  EXPECT_FALSE(of_nothing.passed());
}

TEST(VerificationTest, WhatWasLeftOutIsSaid) {
  const Verification some{1, {check_of(1, 1)}, {{"noise", "it draws random numbers"}}};
  EXPECT_TRUE(some.passed());
  EXPECT_THAT(to_string(some), HasSubstr("left out: noise: it draws random numbers"));
  EXPECT_THAT(to_string(some),
              HasSubstr("this machine repeats the compared values of the 1 golden"));
}

TEST(VerificationTest, TheWorstOfEachPortIsShown) {
  const Verification verification{
      2, {check_of(1, 1.1F), check_of(1, 1.3F), check_of(1, 1.2F, "pi/y", true)}, {}};
  EXPECT_THAT(to_string(verification), HasSubstr("by its node 3.000e-01"));
  EXPECT_THAT(to_string(verification), HasSubstr("in the pipeline 2.000e-01"));
}

}  // namespace
}  // namespace leapp
