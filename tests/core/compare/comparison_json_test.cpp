#include "compare/comparison_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

namespace leapp {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

ConstTensorView as_view(const std::vector<float>& values) {
  return {values.data(), DType::kFloat32, {static_cast<std::int64_t>(values.size())}};
}

TEST(ComparisonJsonTest, HasTheDifferenceAndItsPlace) {
  const std::vector<float> traced = {1, 2, kUnknown, 4};
  const std::vector<float> exported = {1, 2.5, kUnknown, 4};
  const auto json = to_json(compare(as_view(traced), as_view(exported)));
  EXPECT_EQ(json["passed"], false);
  EXPECT_EQ(json["verdict"], "values");
  EXPECT_EQ(json["elements"], 4);
  EXPECT_EQ(json["mismatched"], 1);
  EXPECT_EQ(json["source"]["max"], 4);
  EXPECT_EQ(json["source"]["nan"], 1);
  EXPECT_EQ(json["source"]["nan_percent"], 25);
  EXPECT_EQ(json["difference"]["compared"], 3);
  EXPECT_EQ(json["difference"]["max"], 0.5);
  EXPECT_EQ(json["difference"]["worst"]["index"], std::vector<int>{1});
  EXPECT_EQ(json["difference"]["worst"]["exported"], 2.5);
}

TEST(ComparisonJsonTest, WhatDoesNotExistIsNull) {
  const std::vector<float> nothing;
  const std::vector<float> unknown = {kUnknown};
  const auto json = to_json(compare(as_view(unknown), as_view(nothing)));
  EXPECT_EQ(json["verdict"], "shape");
  EXPECT_TRUE(json["source"]["min"].is_null());
  EXPECT_TRUE(json["exported"]["max"].is_null());
  EXPECT_EQ(json["exported"]["nan_percent"], 0);
  EXPECT_TRUE(json["difference"].is_null());
  EXPECT_TRUE(to_json(compare(as_view(unknown), as_view(unknown)))["difference"].is_null());
}

}  // namespace
}  // namespace leapp
