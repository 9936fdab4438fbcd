#include "runtime/engines/translation.h"

#include <gtest/gtest.h>

namespace leapp {
namespace {

TEST(TranslationTest, PortsHaveNamesThatNoOtherPortHas) {
  Model node;
  node.name = "policy";
  node.inputs = {{"x", DType::kFloat32, {1, 4}, {}}, {"h", DType::kFloat32, {1, 8}, {}}};
  node.outputs = {{"h", DType::kFloat32, {1, 8}, {}}};
  const Model translated = with_translation_ports(node);
  ASSERT_EQ(translated.inputs.size(), 2U);
  EXPECT_EQ(translated.inputs[0].name, "in0");
  EXPECT_EQ(translated.inputs[0].shape, (Shape{1, 4}));
  EXPECT_EQ(translated.inputs[1].name, "in1");
  ASSERT_EQ(translated.outputs.size(), 1U);
  EXPECT_EQ(translated.outputs[0].name, "out0");
  EXPECT_EQ(translated.name, "policy");
}

}  // namespace
}  // namespace leapp
