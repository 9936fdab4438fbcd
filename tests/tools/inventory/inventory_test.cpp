#include "leapp/tools/inventory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "../../core/bundle/support.h"

namespace leapp {
namespace {

ExportedConstant tensor(const std::string& path, Shape shape, double min, double max) {
  return {.path = path, .shape = std::move(shape), .min = min, .max = max};
}

TEST(InventoryTest, CountsWeightsInOneLine) {
  EXPECT_EQ(to_string(ExportedWeights{"net", 6, 0, 152'076}), "net: 6 parameters, 152,076 values");
  EXPECT_EQ(to_string(ExportedWeights{"", 1, 2, 1'000}), "1 parameter, 2 buffers, 1,000 values");
}

TEST(InventoryTest, DescribesTensorsByShapeAndRange) {
  EXPECT_EQ(to_string(tensor("env.commands", {1, 3}, 0, 0)), "env.commands [1, 3], all zeros");
  EXPECT_EQ(to_string(tensor("p", {2}, 0.5, 0.5)), "p [2], all 0.5");
  EXPECT_EQ(to_string(tensor("p", {2}, -1, 2)), "p [2], -1 .. 2");
  EXPECT_EQ(to_string(tensor("p", {}, 3, 3)), "p [], 3");
  EXPECT_EQ(to_string(tensor("p", {0, 3}, 0, 0)), "p [0, 3], no elements");
  ExportedConstant unnamed = tensor("", {2}, 0, 1);
  unnamed.has_nan = true;
  unnamed.op = "aten::cat";
  unnamed.where = "policy.py:42 in forward";
  EXPECT_EQ(to_string(unnamed),
            "a tensor [2], 0 .. 1, with NaN, read by aten::cat at policy.py:42 in forward");
}

TEST(InventoryTest, DescribesNumbersByValue) {
  ExportedConstant number{.kind = ExportedConstant::Kind::kNumber, .min = 0.25, .max = 0.25};
  EXPECT_EQ(to_string(number), "the number 0.25");
  number.path = "env.scale";
  EXPECT_EQ(to_string(number), "env.scale = 0.25");
}

TEST(InventoryTest, NamesAcknowledgePathsTheirEndsAndLines) {
  ExportedConstant constant = tensor("env.robot.default_pose", {3}, 0, 1);
  constant.where = "/home/a/policy.py:42 in forward";
  for (const char* name : {"env.robot.default_pose", "default_pose", "self.default_pose",
                           "robot.default_pose", "env.*", "*pose", "policy.py:42", "policy.py:*"}) {
    EXPECT_TRUE(acknowledges(name, constant)) << name;
  }
  for (const char* name : {"", "self.", "pose", "env.robot", "other.default_pose", "policy.py:4",
                           "env.robot.default_pose.x"}) {
    EXPECT_FALSE(acknowledges(name, constant)) << name;
  }
  EXPECT_TRUE(acknowledges("env.limit", tensor("-env.limit", {}, 1, 1)));
  EXPECT_FALSE(acknowledges("*x", ExportedConstant{}));
}

TEST(InventoryTest, IsReadBackFromDiagnostics) {
  ExportedConstant odd = tensor("p['k']", {2}, -INFINITY, INFINITY);
  odd.has_nan = odd.acknowledged = true;
  odd.dtype = DType::kFloat64;
  const ExportedConstant number{
      .kind = ExportedConstant::Kind::kNumber, .op = "aten::mul", .min = 2, .max = 2};
  const std::vector<NodeInventory> inventory = {{"policy", {{"net", 2, 1, 30}}, {odd, number}},
                                                {"empty", {}, {}}};
  const test::TemporaryFolder folder;
  const auto write = [&](const std::string& text) {
    std::ofstream(folder.path() / "diagnostics.json") << text;
  };
  const auto yaml = folder.path() / "walker.yaml";
  EXPECT_TRUE(read_inventory(yaml).empty());
  write("{\"diagnostics\": [], \"inventory\": " + to_json(inventory) + "}");
  EXPECT_EQ(read_inventory(yaml), inventory);
  for (const char* text : {"[]", "{}", "{\"inventory\": [{\"node\": 3}]}", "no JSON"}) {
    write(text);
    EXPECT_TRUE(read_inventory(yaml).empty()) << text;
  }
}

}  // namespace
}  // namespace leapp
