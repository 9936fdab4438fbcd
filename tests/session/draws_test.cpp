// Random numbers that do not depend on traced values.
#include "tracing.h"

namespace leapp {
namespace {

using at::Tensor;

class DrawsTest : public testing::Tracing {
 protected:
  void SetUp() override {
    Tracing::SetUp();
    begin();
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

}  // namespace
}  // namespace leapp
