#include "session/warm_up.h"

#include "tracing.h"

namespace leapp {
namespace {

using ::testing::IsEmpty;

using WarmUpTest = testing::Tracing;

TEST_F(WarmUpTest, LeavesNothingInTheSession) {
  begin();
  session::warm_up();
  EXPECT_THAT(session::Session::instance().nodes(), IsEmpty());
  EXPECT_THAT(codes(), IsEmpty());
  EXPECT_FALSE(front_end::any_open());
}

TEST_F(WarmUpTest, DisturbsNoPassThatIsUnderWay) {
  begin();
  const at::Tensor x = in("n", at::ones({2}));
  session::warm_up();
  out("n", x * 2);
  EXPECT_EQ(node().completed, 1);
  EXPECT_EQ(first_pass().tape().call_count(), 1);
}

}  // namespace
}  // namespace leapp
