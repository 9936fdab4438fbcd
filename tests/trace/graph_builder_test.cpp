// Tests of the operations that running operators adds to a graph.
#include "trace/graph_builder.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "leapp/error.h"
#include "tape_writer.h"

namespace leapp::trace {
namespace {

using testing::find_op;
using Names = std::vector<std::string>;

class GraphBuilderTest : public ::testing::Test {
 protected:
  at::Tensor run(const char* name, const char* overload, torch::jit::Stack stack) {
    builder_.run(find_op(name, overload), &stack, {"policy.py", 4, "step"});
    return stack.back().toTensor();
  }
  // Returns the graph's operators since the last call.
  Names names() {
    Names found;
    for (; asked_ < builder_.graph().ops().size(); ++asked_) {
      found.push_back(builder_.graph().ops()[asked_].signature->qualified_name());
    }
    return found;
  }
  const ir::Op& last() { return builder_.graph().ops().back(); }

  GraphBuilder builder_{nullptr, RunFor::kValues};
  const at::Tensor x_ = at::arange(6, at::kFloat).view({2, 3});
  const at::Tensor weight_ = at::ones({2, 3});
  const ir::ValueId input_ = builder_.add_input("x", x_);
  std::size_t asked_ = 0;
};

TEST_F(GraphBuilderTest, RecordsWhatDependsOnAnInput) {
  const at::Tensor y = run("aten::mul", "Tensor", {x_, weight_});
  EXPECT_EQ(names(), Names{"aten::mul.Tensor"});
  EXPECT_EQ(last().arguments[0], ir::Argument(ir::ValueRef{input_}));
  EXPECT_EQ(last().source.line, 4);
  EXPECT_EQ(builder_.value_of(y), last().result());
  EXPECT_EQ(builder_.graph().type(last().result()).shape, (Shape{2, 3}));
}

TEST_F(GraphBuilderTest, FoldsTheRestToConstantsOnePerMemory) {
  const at::Tensor folded = run("aten::mul", "Tensor", {weight_, weight_});
  EXPECT_EQ(names(), Names{});
  EXPECT_EQ(builder_.value_of(folded), builder_.value_of(folded.alias()));
  EXPECT_NE(builder_.value_of(folded), builder_.value_of(weight_));
  EXPECT_TRUE(builder_.is_constant(find_op("aten::relu", ""), {weight_}));
  EXPECT_FALSE(builder_.is_constant(find_op("aten::relu", ""), {x_}));
}

TEST_F(GraphBuilderTest, SaysMemoryInTermsOfValues) {
  const at::Tensor scratch = at::ones({2, 3});
  const std::vector<std::int64_t> sizes = {2};
  const std::vector<std::int64_t> strides = {3};
  const std::vector<std::int64_t> diagonal = {4};
  const at::Tensor column = x_.select(1, 0);
  builder_.add_input("column", column);
  const struct {
    const char* name;
    const char* overload;
    torch::jit::Stack stack;
    Names recorded;
  } table[] = {
      {"aten::copy", "", {scratch, x_, false}, {}},
      {"aten::copy", "", {scratch.to(at::kDouble), x_, false}, {"aten::_to_copy"}},
      {"aten::copy", "", {at::ones({4, 2, 3}), x_, false}, {"aten::expand"}},
      {"aten::fill", "Scalar", {x_, 2}, {}},
      {"aten::zero", "", {x_}, {}},
      {"aten::slice_scatter", "", {scratch, x_, 0, c10::IValue(), c10::IValue(), 1}, {}},
      {"aten::slice_scatter", "", {scratch, x_.slice(0, 0, 1), 0, 0, 1, 1}, {}},
      {"aten::as_strided", "", {x_, sizes, strides, 0}, {"aten::slice.Tensor", "aten::reshape"}},
      {"aten::as_strided_scatter",
       "",
       {x_, column, sizes, strides, 0},
       {"aten::slice.Tensor", "aten::reshape", "aten::slice_scatter"}},
      {"aten::as_strided",
       "",
       {x_, sizes, diagonal, 0},
       {"aten::reshape", "aten::index_select", "aten::reshape"}},
      {"aten::as_strided_scatter",
       "",
       {x_, column, sizes, diagonal, 0},
       {"aten::reshape", "aten::reshape", "aten::index_put", "aten::reshape"}},
      {"aten::view", "", {x_, std::vector<std::int64_t>{6}}, {"aten::reshape"}},
  };
  for (const auto& line : table) {
    run(line.name, line.overload, line.stack);
    EXPECT_EQ(names(), line.recorded) << line.name;
  }
}

TEST_F(GraphBuilderTest, NumbersStayNumbersWhereAnOverloadTakesThem) {
  const auto number = [](double value) {
    at::Tensor made = at::ones({}, at::kDouble).mul(value);
    made.unsafeGetTensorImpl()->set_wrapped_number(true);
    return made;
  };
  run("aten::mul", "Tensor", {x_, number(2)});
  EXPECT_EQ(last().signature->qualified_name(), "aten::mul.Scalar");
  EXPECT_EQ(last().arguments[1], ir::Argument(2.0));
  run("aten::maximum", "", {x_, number(2)});
  const auto constant = std::get<ir::ValueRef>(last().arguments[1]).id;
  EXPECT_EQ(builder_.graph().type(constant).dtype, DType::kFloat32);
}

TEST_F(GraphBuilderTest, DynamicSizesAreLeftOpenOrSpecialised) {
  const at::Tensor mask = run("aten::gt", "Scalar", {x_, 2});  // true three times
  const at::Tensor some = run("aten::masked_select", "", {x_, mask});
  run("aten::reshape", "", {some, std::vector<std::int64_t>{3, 1}});
  EXPECT_EQ(last().arguments[1], ir::Argument(Shape{-1, 1}));
  EXPECT_FALSE(last().fixed_size);
  run("aten::add", "Tensor", {some, at::ones({3}), 1});
  EXPECT_TRUE(last().fixed_size);
}

TEST(GraphBuilderShapesTest, LargeProductsAreNotComputedUnlessAValueIsRead) {
  GraphBuilder builder(nullptr, RunFor::kShapes);
  const at::Tensor x = at::ones({256, 256});
  builder.add_input("x", x);
  torch::jit::Stack stack = {x, x};
  builder.run(find_op("aten::mm", ""), &stack, {});
  const at::Tensor product = stack.back().toTensor();
  EXPECT_EQ(product.sum().item<float>(), 0);
  EXPECT_THROW(builder.run(find_op("aten::nonzero", ""), &(stack = {product}), {}), Error);
}

}  // namespace
}  // namespace leapp::trace
