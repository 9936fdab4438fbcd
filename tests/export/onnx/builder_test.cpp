#include "export/onnx/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export/onnx/blob.h"
#include "export/onnx/finish.h"
#include "export/onnx/ops.h"
#include "graph_of.h"
#include "leapp/error.h"

namespace leapp::onnx_export {
namespace {

using leapp::testing::op_types;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class BuilderTest : public ::testing::Test {
 protected:
  Value constant(const std::vector<double>& values, Shape shape, DType dtype = DType::kFloat32) {
    return float_tensor(builder_, dtype, values, std::move(shape));
  }

  Builder builder_{20};
  Value x_ = builder_.input("x", {DType::kFloat32, {2, 3}});
};

TEST_F(BuilderTest, MakesEqualThingsOnce) {
  EXPECT_EQ(exp(x_).id(), exp(x_).id());
  EXPECT_EQ(constant({1, 2}, {2}).id(), constant({1, 2}, {2}).id());
  EXPECT_NE(constant({1, 2}, {2}).id(), constant({1, 2}, {2, 1}).id());
  EXPECT_EQ(builder_.nodes().size(), 1U);
}

TEST_F(BuilderTest, ComputesConstantsOnTheSpot) {
  const Value a = constant({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_THAT(*constant_doubles(transpose(a, 0, 1)), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(*constant_doubles(slice(a, 1, 2, -1, -1)), ElementsAre(3, 2, 1, 6, 5, 4));
  EXPECT_THAT(*constant_doubles(slice(a, 1, 0, 3, 2)), ElementsAre(1, 3, 4, 6));
  EXPECT_THAT(*constant_doubles(concat({a, a}, 1)),
              ElementsAre(1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6));
  EXPECT_THAT(*constant_doubles(a * constant({10, 100}, {2, 1}) - 1.0),
              ElementsAre(9, 19, 29, 399, 499, 599));
  EXPECT_THAT(*constant_ints(a > 3.0), ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_TRUE(builder_.nodes().empty());
}

TEST_F(BuilderTest, RoundsToHalfPrecisionAsTheProcessorDoes) {
  const Value numbers =
      constant({0.1, 65519, 65520, 6e-8, 2e-8, -1.0009765625, 1.00048828125}, {7});
  const std::vector<double> half = *constant_doubles(cast(numbers, DType::kFloat16));
  EXPECT_DOUBLE_EQ(half[0], 0.0999755859375);
  EXPECT_EQ(half[1], 65504);
  EXPECT_TRUE(std::isinf(half[2]));
  EXPECT_DOUBLE_EQ(half[3], 0x1p-24);
  EXPECT_EQ(half[4], 0);
  EXPECT_DOUBLE_EQ(half[5], -1.0009765625);
  EXPECT_EQ(half[6], 1.0) << "half to even";
  EXPECT_DOUBLE_EQ((*constant_doubles(cast(numbers, DType::kBFloat16)))[0], 0.10009765625);
}

TEST_F(BuilderTest, EmitsNothingThatChangesNothing) {
  EXPECT_EQ(cast(x_, DType::kFloat32).id(), x_.id());
  EXPECT_EQ(reshape(x_, {2, 3}).id(), x_.id());
  EXPECT_EQ(slice(x_, 1, 0, 99).id(), x_.id());
  EXPECT_EQ((x_ * 1.0).id(), x_.id());
  EXPECT_EQ(permute(permute(x_, {1, 0}), {1, 0}).id(), x_.id());
}

TEST_F(BuilderTest, TensorsWithoutElementsAreConstants) {
  const Value nothing = slice(x_, 0, 2, 2);
  EXPECT_EQ(nothing.shape(), (Shape{0, 3}));
  EXPECT_TRUE(nothing.is_constant());
  EXPECT_TRUE(exp(nothing).is_constant());
}

TEST_F(BuilderTest, CastsWhereTheRuntimeHasNoKernel) {
  const Value flags = builder_.input("flags", {DType::kBool, {2}});
  EXPECT_EQ(where(flags, flags, flags.builder().input("b", {DType::kBool, {2}})).dtype(),
            DType::kBool);
  std::vector<std::string> types;
  for (const BuiltNode& node : builder_.nodes()) types.push_back(node.op_type);
  EXPECT_THAT(types, ElementsAre("Cast", "Cast", "Where", "Cast"));
}

TEST_F(BuilderTest, ALoopIsANodeWithAGraphInside) {
  const Value outside = exp(x_);
  const std::vector<Value> done =
      builder_.loop(scalar_int(builder_, DType::kInt64, 5), {x_},
                    [&](Value round, const std::vector<Value>& state) -> std::vector<Value> {
                      return {state[0] + outside * cast(round, DType::kFloat32)};
                    });
  const Value again = exp(x_);
  EXPECT_EQ(again.id(), outside.id());
  ir::Graph source;
  const onnx::Graph graph = finish(builder_, source, {x_}, {{"y", done[0]}});
  EXPECT_THAT(op_types(graph), ElementsAre("Exp", "Loop"));
  const auto& body =
      std::get<std::shared_ptr<const onnx::Graph>>(graph.nodes[1].attributes.at(0).value);
  EXPECT_EQ(body->inputs.size(), 3U);
  EXPECT_THAT(op_types(*body), UnorderedElementsAre("Cast", "Mul", "Add", "Identity", "Identity"));
}

TEST_F(BuilderTest, MixedTypesAreOurBug) {
  EXPECT_THROW(x_ + builder_.input("i", {DType::kInt64, {2, 3}}), Error);
}

}  // namespace
}  // namespace leapp::onnx_export
