// Random numbers that do not depend on traced values.
#include "session/draws.h"

#include "bundle/noise_port.h"
#include "tracing.h"

namespace leapp {
namespace {

using at::Tensor;

class DrawsTest : public testing::Tracing {
 protected:
  void SetUp() override {
    Tracing::SetUp();
    begin_with(Noise::kModel);
  }
};

TEST_F(DrawsTest, OverwrittenUnreadPlayNoPart) {
  const Tensor x = in("n", at::ones({2}));
  Tensor weight = at::empty({2});
  weight.uniform_();
  weight.normal_();
  weight.copy_(at::full({2}, 3.0));
  out("n", x * weight);
  EXPECT_TRUE(first_pass().baked.empty());
}

TEST_F(DrawsTest, ReadOrOverwrittenInPartStay) {
  const Tensor x = in("n", at::ones({2}));
  Tensor read = at::empty({2});
  read.uniform_();
  const Tensor y = x * read;
  read.copy_(at::full({2}, 3.0));
  Tensor half = at::empty({2});
  half.normal_();
  half.narrow(0, 0, 1).copy_(at::ones({1}));
  out("n", y + half);
  EXPECT_EQ(first_pass().baked.size(), 2U);
}

class NoiseDrawsTest : public testing::Tracing {
 protected:
  static std::vector<std::string> input_names() {
    std::vector<std::string> names;
    for (const session::NodePort& port : node().inputs) names.push_back(port.name);
    return names;
  }
};

TEST_F(NoiseDrawsTest, EachDrawIsAnInputWithItsNumbers) {
  begin_with(Noise::kPort);
  for (int pass = 0; pass < 2; ++pass) {
    const Tensor x = in("n", at::ones({2}));
    const Tensor noise = at::randn({2});
    out("n", x + noise + at::rand_like(x, at::kDouble));
    EXPECT_TRUE(at::equal(node().passes.at(static_cast<std::size_t>(pass)).inputs.at(1), noise));
  }
  EXPECT_EQ(input_names(), (std::vector<std::string>{"x", "noise", "noise_2"}));
  EXPECT_EQ(distribution_of(node().inputs[1]), NoiseDistribution::kNormal);
  EXPECT_EQ(distribution_of(node().inputs[2]), NoiseDistribution::kUniform);
  EXPECT_EQ(node().inputs[2].dtype, DType::kFloat32);
  EXPECT_TRUE(codes().empty());
}

TEST_F(NoiseDrawsTest, APassMayDrawLessOften) {
  begin_with(Noise::kPort);
  const Tensor x = in("n", at::ones({2}));
  out("n", x + at::randn({2}));
  pass();
  EXPECT_TRUE(at::equal(node().passes.at(1).inputs.at(1), at::zeros({2})));
}

TEST_F(NoiseDrawsTest, MoreDrawsThanInTheFirstPassAreConstants) {
  begin_with(Noise::kPort);
  pass();
  const Tensor x = in("n", at::ones({2}));
  out("n", x + at::randn({2}));
  EXPECT_EQ(input_names(), std::vector<std::string>{"x"});
  ASSERT_EQ(node().passes.at(1).baked.size(), 1U);
  EXPECT_EQ(node().passes.at(1).baked[0].random, "aten::randn");
}

TEST_F(NoiseDrawsTest, WithTwoOpenNodesADrawBelongsToNeither) {
  begin_with(Noise::kPort);
  const Tensor x = in("n", at::ones({2}));
  const Tensor other = in("m", at::ones({2}));
  const Tensor noise = at::randn({2});
  out("m", other + noise);
  out("n", x + 1);
  EXPECT_EQ(node("m").inputs.size(), 1U);
  EXPECT_EQ(first_pass("m").baked.size(), 1U);
}

TEST_F(NoiseDrawsTest, DrawsCanBeReplacedAndFrozen) {
  begin_with(Noise::kZero);
  const Tensor x = in("n", at::ones({2}));
  EXPECT_TRUE(at::equal(at::randn({2}), at::zeros({2})));
  EXPECT_TRUE(at::equal(at::rand({2}), at::full({2}, 0.5)));
  out("n", x + at::randn({2}));
  EXPECT_EQ(node().inputs.size(), 1U);
  EXPECT_TRUE(first_pass().baked.empty());
  stop();
  begin_with(Noise::kFrozen);
  const Tensor z = in("n", at::ones({2}));
  out("n", z + at::randn({2}));
  EXPECT_EQ(node().inputs.size(), 1U);
  EXPECT_TRUE(first_pass().baked.empty());
}

TEST_F(NoiseDrawsTest, DropoutIsReported) {
  begin_with(Noise::kPort);
  const Tensor x = in("n", at::ones({2}));
  out("n", at::dropout(x, 0.5, true));
  EXPECT_EQ(codes(), std::vector<Code>{Code::kRandomInside});
}

}  // namespace
}  // namespace leapp
