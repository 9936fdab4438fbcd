#include "session/passes.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

namespace leapp::session {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class PassesTest : public ::testing::Test {
 protected:
  bool begin(const NamedTensors& inputs = {}, trace::FrameRef frame = {}) {
    return begin_pass_if_needed(data_, node_, inputs, frame);
  }

  SessionData data_;
  SessionNode& node_ = data_.nodes.add("n", true);
};

TEST_F(PassesTest, BeginOnce) {
  EXPECT_TRUE(begin());
  EXPECT_FALSE(begin());
  EXPECT_TRUE(node_.pass.recorded);
  EXPECT_TRUE(data_.tape);
  end_pass(data_, node_);
  EXPECT_FALSE(data_.tape);
  EXPECT_TRUE(begin());
}

TEST_F(PassesTest, BeginAgainAtALineThatGivesAnInputASecondTime) {
  const int code = 0;
  const NamedTensors inputs = {{"x", at::ones({2})}};
  begin(inputs, {&code, 1});
  node_.pass.input_places["x"] = {&code, 1};
  EXPECT_FALSE(begin(inputs, {&code, 2}));
  EXPECT_THAT(data_.messages.take(), IsEmpty());
  EXPECT_TRUE(begin(inputs, {&code, 1}));
  EXPECT_THAT(data_.messages.take(), SizeIs(1));
  EXPECT_EQ(data_.nodes.open_passes(), 1);
}

TEST_F(PassesTest, AreRecordedUntilEnoughWere) {
  node_.completed = data_.options.max_cached_io + 1;
  begin();
  EXPECT_FALSE(node_.pass.recorded);
  EXPECT_FALSE(data_.tape);
}

TEST_F(PassesTest, ReturnTheResultsThatTheProgramStillHolds) {
  begin();
  const at::Tensor result = at::ones({2});
  const VarId var = data_.tape->add_snapshot(result, node_.id);
  data_.tape->variable(var).node = node_.id;
  const auto tape = data_.tape.share();
  end_pass(data_, node_);
  for (VarId id = 0; id < static_cast<VarId>(tape->variable_count()); ++id) {
    EXPECT_EQ(tape->variable(id).node, kNoId);
  }
}

TEST_F(PassesTest, ThatAreDroppedLeaveNoPorts) {
  begin();
  node_.inputs.emplace_back();
  drop_pass(data_, node_);
  EXPECT_THAT(node_.inputs, IsEmpty());
  node_.completed = 1;
  begin();
  node_.inputs.emplace_back();
  drop_pass(data_, node_);
  EXPECT_THAT(node_.inputs, SizeIs(1));
}

TEST_F(PassesTest, KeepEscapesThatNoOpenNodeOwns) {
  begin();
  note_escape(data_, 0, node_.id, {}, Code::kNumber, "of the node");
  EXPECT_TRUE(node_.read_values);
  EXPECT_THAT(data_.messages.take(), SizeIs(1));
  note_escape(data_, 0, kNoId, {}, Code::kNumber, "from outside");
  EXPECT_THAT(data_.messages.take(), IsEmpty());
  EXPECT_THAT(node_.pass.record.escapes, SizeIs(1));
}

}  // namespace
}  // namespace leapp::session
