#include "rehearse/unseen_inputs.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gmock/gmock.h>

namespace leapp::rehearse {
namespace {

class UnseenInputsTest : public ::testing::Test {
 protected:
  at::Tensor make(Unseen kind, const std::vector<at::Tensor>& traced) {
    return make_unseen(kind, traced, random_);
  }

  at::Generator random_ = at::detail::createCPUGenerator(1);
};

TEST_F(UnseenInputsTest, NumbersStayInTheTracedRangeOrLeaveItAsTheirKindSays) {
  const std::vector<at::Tensor> traced = {at::tensor({-1.0F, 0.5F}), at::tensor({2.0F, 3.0F})};
  const at::Tensor drawn = make(Unseen::kInRange, traced);
  EXPECT_TRUE(drawn.ge(-1).logical_and(drawn.le(3)).all().item<bool>());
  EXPECT_TRUE(at::equal(make(Unseen::kScaled, traced), at::tensor({6.0F, 9.0F})));
  EXPECT_TRUE(at::equal(make(Unseen::kFlipped, traced), at::tensor({-2.0F, -3.0F})));
  EXPECT_TRUE(at::equal(make(Unseen::kZeros, traced), at::zeros({2})));
  const at::Tensor extreme = make(Unseen::kExtreme, traced);
  EXPECT_TRUE(extreme.isfinite().all().item<bool>());
  EXPECT_GT(extreme.abs().min().item<float>(), 1e38F);
  EXPECT_TRUE(at::equal(limit_magnitude(extreme), at::tensor({1e3F, -1e3F})));
  EXPECT_TRUE(at::equal(limit_magnitude(traced[1]), traced[1]));
}

TEST_F(UnseenInputsTest, PermutedOnesAreTheSameNumbers) {
  const at::Tensor traced = at::arange(100, at::kFloat).reshape({4, 25});
  const at::Tensor permuted = make(Unseen::kPermuted, {traced});
  EXPECT_EQ(permuted.sizes(), traced.sizes());
  EXPECT_FALSE(at::equal(permuted, traced));
  EXPECT_TRUE(at::equal(std::get<0>(permuted.reshape({-1}).sort()), traced.reshape({-1})));
}

TEST_F(UnseenInputsTest, IntegersStayWhereAnIndexIsValid) {
  const at::Tensor traced = at::tensor({2, 4}, at::kLong);
  for (const auto& [kind, name] : kUnseenKinds) {
    const at::Tensor made = make(kind, {traced});
    EXPECT_EQ(made.scalar_type(), at::kLong);
    EXPECT_TRUE(made.ge(2).logical_and(made.le(4)).all().item<bool>()) << name;
  }
  const at::Tensor one = at::full({50}, 3, at::kLong);
  EXPECT_TRUE(at::equal(make(Unseen::kInRange, {one}), one));
}

TEST_F(UnseenInputsTest, TruthValuesVaryWhereTheyDid) {
  const at::Tensor both = at::arange(64).remainder(2).to(at::kBool);
  EXPECT_FALSE(at::equal(make(Unseen::kInRange, {both}), both));
  const at::Tensor all = at::ones({64}, at::kBool);
  EXPECT_TRUE(at::equal(make(Unseen::kInRange, {all}), all));
}

TEST_F(UnseenInputsTest, EmptyTensorsStayEmpty) {
  for (const auto& [kind, name] : kUnseenKinds) {
    EXPECT_EQ(make(kind, {at::zeros({0, 3})}).numel(), 0) << name;
  }
}

TEST_F(UnseenInputsTest, NudgingMovesFloatsHardly) {
  const at::Tensor x = at::ones({8});
  const at::Tensor moved = nudged(x, random_);
  EXPECT_FALSE(at::equal(moved, x));
  EXPECT_TRUE(at::allclose(moved, x, 1e-5));
  const at::Tensor index = at::ones({8}, at::kLong);
  EXPECT_TRUE(at::equal(nudged(index, random_), index));
}

}  // namespace
}  // namespace leapp::rehearse
