#include "session/open_tape.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace leapp::session {
namespace {

using at::Tensor;

TEST(OpenTapeTest, IsSharedUntilItIsClosed) {
  trace::CaptureTable captures;
  OpenTape tape;
  EXPECT_FALSE(tape);
  const auto first = tape.open(captures);
  EXPECT_EQ(tape.open(captures), first);
  EXPECT_EQ(tape.share(), first);
  tape.baked[0] = {};
  tape.close();
  EXPECT_FALSE(tape);
  EXPECT_TRUE(tape.baked.empty());
  EXPECT_NE(tape.open(captures), first);
}

TEST(OpenTapeTest, KnowsTheVariableAndTheNodeOfATensor) {
  trace::CaptureTable captures;
  OpenTape tape;
  const Tensor x = at::ones({2});
  EXPECT_FALSE(tape.can_hold(x));
  EXPECT_EQ(tape.owner_of(x), kNoId);
  tape.open(captures);
  EXPECT_TRUE(tape.can_hold(x));
  EXPECT_FALSE(tape.can_hold(Tensor()));
  EXPECT_EQ(tape.variable_of(x), std::nullopt);
  const VarId var = tape->add_input(x, 3);
  EXPECT_EQ(tape.variable_of(x), var);
  EXPECT_EQ(tape.owner_of(x), 3);
  EXPECT_EQ(tape.owner_of(at::ones({2})), kNoId);
}

}  // namespace
}  // namespace leapp::session
