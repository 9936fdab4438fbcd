#include "validate/node_validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/log.h"

namespace leapp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class NodeValidationTest : public testing::Test {
 protected:
  NodeValidationTest() {
    former_ = set_log_sink([this](LogLevel level, std::string_view line) {
      lines_.push_back(std::string(name_of(level)) + " " + std::string(line));
    });
  }
  ~NodeValidationTest() override { set_log_sink(former_); }

  ConstTensorView one() const { return {&one_, DType::kFloat32, {}}; }
  ConstTensorView two() const { return {&two_, DType::kFloat32, {}}; }

  std::vector<std::string> lines_;

 private:
  LogSink former_;
  float one_ = 1;
  float two_ = 2;
};

TEST_F(NodeValidationTest, APassIsOneLine) {
  NodeValidation validation("policy", {"action"}, {}, "walker/log.txt");
  validation.add_sample(0, {one()}, {one()});
  validation.add_sample(1, {two()}, {two()});
  EXPECT_TRUE(validation.finish().passed);
  EXPECT_THAT(lines_, ElementsAre("INFO   [PASS] policy passed validation (2 samples)"));
}

TEST_F(NodeValidationTest, AMismatchNamesOutputSampleAndLog) {
  NodeValidation validation("policy", {"action"}, {}, "walker/log.txt");
  validation.add_sample(0, {one()}, {two()});
  const NodeOutcome outcome = validation.finish();
  EXPECT_FALSE(outcome.passed);
  EXPECT_THAT(outcome.error, IsEmpty());
  EXPECT_EQ(lines_[0],
            "INFO policy/action sample 0: Mismatch detected (rtol=0.001, atol=1e-05): 1 of 1 "
            "values are not close; details are in walker/log.txt");
  EXPECT_THAT(lines_[1], HasSubstr("INFO   source:   shape [], dtype float32"));
}

TEST_F(NodeValidationTest, OnlyLaterSamplesFailingHintsAtAConstant) {
  NodeValidation validation("policy", {"action"}, {}, "");
  validation.add_sample(0, {one()}, {one()});
  validation.add_sample(1, {one()}, {two()});
  EXPECT_FALSE(validation.finish().passed);
  EXPECT_THAT(lines_.back(), HasSubstr("INFO   policy: sample 0 passed, but a re-entry did not"));
}

TEST_F(NodeValidationTest, OutputCountsAreCompared) {
  NodeValidation validation("policy", {"a", "b"}, {}, "");
  validation.add_sample(2, {one(), two()}, {one()});
  EXPECT_FALSE(validation.finish().passed);
  EXPECT_THAT(lines_[0],
              HasSubstr("policy sample 2: the exported model returns 1 outputs, expected 2"));
}

TEST_F(NodeValidationTest, AModelThatCannotRunIsAnError) {
  NodeValidation validation("policy", {"a"}, {}, "");
  validation.add_error(0, "no such operator");
  const NodeOutcome outcome = validation.finish();
  EXPECT_FALSE(outcome.passed);
  EXPECT_EQ(outcome.error, "no such operator");
  EXPECT_EQ(lines_[0],
            "INFO policy sample 0: the exported model could not be run: no such operator");
}

TEST_F(NodeValidationTest, WhatWasNotComparedIsNotCalledAPass) {
  NodeValidation validation("sampler", {"a"}, {}, "");
  validation.add_run(0);
  const NodeOutcome outcome = validation.finish("it draws random numbers");
  EXPECT_TRUE(outcome.passed);
  EXPECT_EQ(outcome.not_compared, "it draws random numbers");
  log_validation_summary({outcome, {.node = "b"}});
  EXPECT_THAT(lines_,
              ElementsAre("WARNING   [NOT VALIDATED] sampler: it draws random numbers [LP410]",
                          "INFO Validation Summary", "INFO   Passed: 1/2", "INFO   Failed: 0/2",
                          "INFO   Errored: 0/2", "INFO   Not validated: 1/2"));
}

TEST_F(NodeValidationTest, NothingButNaNIsNotCalledAPass) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const ConstTensorView none{&nan, DType::kFloat32, {}};
  NodeValidation validation("policy", {"a", "b"}, {}, "");
  validation.add_sample(0, {none, none}, {none, none});
  EXPECT_THAT(validation.finish().not_compared,
              HasSubstr("is NaN. Trace it with realistic inputs"));
  NodeValidation partly("policy", {"a", "b"}, {}, "");
  partly.add_sample(0, {none, one()}, {none, one()});
  EXPECT_THAT(partly.finish().not_compared, IsEmpty());
}

TEST_F(NodeValidationTest, TheSummaryCountsAndNames) {
  const std::vector<NodeOutcome> outcomes = {
      {"a", true, ""}, {"b", false, ""}, {"c", false, "crashed"}};
  log_validation_summary(outcomes);
  EXPECT_THAT(lines_, ElementsAre("INFO Validation Summary", "INFO   Passed: 1/3",
                                  "INFO   Failed: 1/3", "INFO   Errored: 1/3"));
  EXPECT_EQ(describe_failures(outcomes), "Model validation failed for 2 node(s): b, c (crashed)");
  EXPECT_THAT(describe_failures({{"a", true, ""}}), IsEmpty());
}

}  // namespace
}  // namespace leapp
