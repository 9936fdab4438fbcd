#include "onnx/model.h"

#include <gmock/gmock.h>

#include "sample_model.h"

namespace leapp::onnx {
namespace {

using ::testing::ElementsAre;

TEST(ModelTest, EveryTypeGoesThereAndBack) {
  for (int i = 0; i <= static_cast<int>(DType::kComplex128); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_of(element_type_of(dtype)), dtype) << name_of(dtype);
  }
  EXPECT_EQ(dtype_of(ElementType::kUndefined), std::nullopt);
  EXPECT_EQ(element_type_of(static_cast<DType>(200)), ElementType::kUndefined);
}

TEST(ModelTest, TypesAndShapesHaveATextForMessages) {
  EXPECT_EQ(text_of(ElementType::kFloat), "float32");
  EXPECT_EQ(text_of(ElementType::kString), "ONNX type 8");
  EXPECT_EQ(text_of({std::int64_t{1}, std::string("batch"), std::string()}), "[1, batch, ?]");
  EXPECT_EQ(text_of(std::vector<Dimension>{}), "[]");
}

TEST(ModelTest, TheOpsetIsThatOfOnnxItself) {
  Model model;
  EXPECT_EQ(opset_of(model), std::nullopt);
  model.opsets = {{"com.microsoft", 1}};
  EXPECT_EQ(opset_of(model), std::nullopt);
  model.opsets = {{"", 20}, {"com.microsoft", 1}};
  EXPECT_EQ(opset_of(model), 20);
  model.opsets = {{"com.microsoft", 1}, {"ai.onnx", 17}};
  EXPECT_EQ(opset_of(model), 17);
}

// Up to IR version 3, weights are inputs as well.
TEST(ModelTest, WeightsAreNotFed) {
  Graph graph;
  graph.inputs = {testing::info("x", {}), testing::info("w", {})};
  graph.initializers = {testing::float_tensor("w", {1})};
  const std::vector<ValueInfo> fed = fed_inputs(graph);
  ASSERT_EQ(fed.size(), 1U);
  EXPECT_EQ(fed[0].name, "x");
}

TEST(ModelTest, ExternalFilesAreFoundInNodesAndInnerGraphs) {
  const auto external = [](const std::string& location) {
    Tensor tensor = testing::float_tensor(location, {});
    tensor.external = ExternalData{location, 0, 0};
    return tensor;
  };
  Graph inner;
  inner.initializers = {external("inner.bin"), testing::float_tensor("inside", {1})};
  Node node;
  node.attributes = {{"value", external("attribute.bin"), {}},
                     {"then_branch", std::make_shared<const Graph>(inner), {}},
                     {"axis", std::int64_t{1}, {}}};
  Model model;
  model.graph.initializers = {external("b.bin"), external("a.bin"), external("b.bin")};
  model.graph.nodes = {node};
  EXPECT_THAT(external_locations(model),
              ElementsAre("a.bin", "attribute.bin", "b.bin", "inner.bin"));
  EXPECT_TRUE(external_locations(testing::sample_model()).empty());
}

}  // namespace
}  // namespace leapp::onnx
