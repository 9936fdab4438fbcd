#include "trace/replayer.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "tape_writer.h"

namespace leapp::trace {
namespace {

class ReplayerTest : public ::testing::Test {
 protected:
  Replay::Values run(const at::Tensor& output, const at::Tensor& input,
                     const std::vector<StateSlot>& slots = {},
                     const std::vector<at::Tensor>& states = {}) {
    Recording recording;
    recording.tape = writer_.tape;
    recording.inputs = {{"x", input_}};
    recording.outputs = {{"y", writer_.var(output)}};
    recording.calls = calls_for(recording, slots);
    return Replay(recording, slots).run({input}, states);
  }

  testing::TapeWriter writer_;
  const at::Tensor x_ = at::ones({2, 2});
  const VarId input_ = writer_.input(x_);
  const at::Tensor weight_ = at::full({2, 2}, 3.0);
};

TEST_F(ReplayerTest, RecordedCallsRunOnOtherInputs) {
  const at::Tensor y = writer_.mul(x_, weight_);
  writer_.add_in_place(y, x_);
  const at::Tensor other = at::arange(4, at::kFloat).reshape({2, 2});
  EXPECT_TRUE(at::equal(run(y, other).outputs[0], other.mul(4)));
  EXPECT_TRUE(at::equal(other, at::arange(4, at::kFloat).reshape({2, 2})));
}

TEST_F(ReplayerTest, MemoryFromOutsideIsNotWritten) {
  const at::Tensor memory = at::zeros({2, 2});
  writer_.add_in_place(memory, x_);
  const at::Tensor y = writer_.mul(memory, weight_);
  const at::Tensor now = memory.clone();
  run(y, at::full({2, 2}, 5.0));
  EXPECT_TRUE(at::equal(memory, now));
}

TEST_F(ReplayerTest, StatesAreReadAndLeft) {
  const at::Tensor memory = at::zeros({2, 2});
  const VarId before = writer_.tape->use(memory);
  writer_.add_in_place(memory, x_);
  const at::Tensor y = writer_.mul(memory, weight_);
  const StateSlot slot{.name = "m", .before = before, .after = before};
  const at::Tensor held = at::full({2, 2}, 10.0);
  const Replay::Values values = run(y, at::full({2, 2}, 5.0), {slot}, {held});
  EXPECT_TRUE(at::equal(values.outputs[0], at::full({2, 2}, 45.0)));
  EXPECT_TRUE(at::equal(values.after[0], at::full({2, 2}, 15.0)));
  EXPECT_TRUE(at::equal(held, at::full({2, 2}, 10.0)));
}

TEST_F(ReplayerTest, InputsThatAnOperatorRefusesThrow) {
  const at::Tensor y =
      writer_.call("aten::view", "", {writer_.mul(x_, weight_), std::vector<std::int64_t>{4}});
  EXPECT_THROW(run(y, at::ones({3, 3})), std::exception);
}

}  // namespace
}  // namespace leapp::trace
