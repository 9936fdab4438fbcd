#include "validate/validation_report.h"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace leapp {
namespace {

using Json = nlohmann::json;

OutputOutcome compared(const std::vector<float>& source, const std::vector<float>& exported) {
  const Shape shape = {static_cast<std::int64_t>(source.size())};
  return {"y", compare_in_full({source.data(), DType::kFloat32, shape},
                               {exported.data(), DType::kFloat32, shape})};
}

Json report_of(NodeOutcome outcome) {
  return Json::parse(validation_json({std::move(outcome)}, {1e-3, 1e-5}, "abc"));
}

TEST(ValidationReportTest, b34_HasEveryFigureOfAPassAsWell) {
  NodeOutcome outcome{.node = "pi"};
  outcome.samples.push_back({.label = "sample 0", .outputs = {compared({1, 2, 4}, {1, 2, 4})}});
  const Json report = report_of(outcome);
  EXPECT_EQ(report["version"], 1);
  EXPECT_EQ(report["yaml_sha256sum"], "abc");
  EXPECT_EQ(report["passed"], true);
  EXPECT_EQ(report["summary"]["passed"], 1);
  const Json& output = report["nodes"][0]["samples"][0]["outputs"][0];
  EXPECT_EQ(output["name"], "y");
  EXPECT_EQ(output["verdict"], "close");
  EXPECT_EQ(output["source"]["shape"], Json({3}));
  EXPECT_EQ(output["source"]["dtype"], "float32");
  EXPECT_EQ(output["source"]["min"], 1);
  EXPECT_EQ(output["exported"]["max"], 4);
  EXPECT_EQ(output["exported"]["nan_percent"], 0);
  EXPECT_EQ(output["difference"]["compared"], 3);
  for (const char* figure : {"max", "mean", "p50", "p75", "p90", "p99", "p995"}) {
    EXPECT_EQ(output["difference"][figure], 0) << figure;
  }
}

TEST(ValidationReportTest, b34_CountsNanAndInfAndSaysWhereItIsWorst) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float inf = std::numeric_limits<float>::infinity();
  NodeOutcome outcome{.node = "pi", .passed = false};
  outcome.samples.push_back(
      {.label = "sample 1", .outputs = {compared({1, 2, nan, 4}, {1, 5, nan, inf})}});
  const Json report = report_of(outcome);
  EXPECT_EQ(report["passed"], false);
  EXPECT_EQ(report["summary"]["failed"], 1);
  const Json& output = report["nodes"][0]["samples"][0]["outputs"][0];
  EXPECT_EQ(output["verdict"], "non_finite");
  EXPECT_EQ(output["source"]["nan"], 1);
  EXPECT_EQ(output["source"]["nan_percent"], 25);
  EXPECT_EQ(output["exported"]["inf"], 1);
  EXPECT_EQ(output["difference"]["max"], 3);
  EXPECT_EQ(output["difference"]["worst"]["index"], Json({1}));
  EXPECT_EQ(output["difference"]["worst"]["exported"], 5);
}

TEST(ValidationReportTest, b34_WhatWasNotMeasuredIsNull) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  NodeOutcome outcome{.node = "pi", .passed = false, .error = "no engine"};
  outcome.samples.push_back({.label = "sample 0", .outputs = {compared({nan}, {nan})}});
  outcome.samples.push_back({.label = "sample 1", .error = "no engine"});
  const Json report = report_of(outcome);
  const Json& node = report["nodes"][0];
  EXPECT_EQ(report["summary"]["errored"], 1);
  EXPECT_EQ(node["error"], "no engine");
  EXPECT_TRUE(node["not_compared"].is_null());
  EXPECT_TRUE(node["samples"][0]["outputs"][0]["difference"].is_null());
  EXPECT_TRUE(node["samples"][0]["outputs"][0]["source"]["min"].is_null());
  EXPECT_EQ(node["samples"][1]["error"], "no engine");
}

TEST(ValidationReportTest, b34_SaysWhetherATorchScriptModelWasTranslated) {
  EXPECT_FALSE(report_of({.node = "pi"})["nodes"][0].contains("translation"));
  NodeOutcome outcome{.node = "pi", .translation = TranslationOutcome{}};
  EXPECT_EQ(report_of(outcome)["nodes"][0]["translation"],
            Json({{"kept", true}, {"left_out", nullptr}}));
  outcome.translation->left_out = "it branches";
  EXPECT_EQ(report_of(outcome)["nodes"][0]["translation"],
            Json({{"kept", false}, {"left_out", "it branches"}}));
}

}  // namespace
}  // namespace leapp
