#include "import/clock.h"

#include <gmock/gmock.h>

#include "import/meaning.h"
#include "run_part.h"
#include "support.h"

namespace leapp::importing {
namespace {

using leapp::testing::Folder;
using leapp::testing::onnx_17;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ClockTest, AReaderIsToldTheTickFromZero) {
  const Folder folder;
  Draft draft;
  NodeWriter writer("policy", onnx_17());
  const Port reader = plain_port("time_step", {1, 1});
  writer.output(plain_port("y", {1, 1}), writer.input(reader));
  draft.add(std::move(writer).take());
  add_clock(draft, "policy", reader, onnx_17());
  const Bundle bundle = read_bundle(draft.write(folder.path() / "timed").file);
  EXPECT_THAT(bundle.pipeline.inputs, IsEmpty());  // the controller has no input to set
  ASSERT_EQ(bundle.pipeline.outputs.size(), 1U);
  EXPECT_EQ(bundle.pipeline.outputs[0].node, "policy");
  ASSERT_EQ(bundle.pipeline.feedback_flow.size(), 1U);
  EXPECT_EQ(to_string(bundle.pipeline.feedback_flow[0].source), "clock/count_next");
  EXPECT_TRUE(bundle.pipeline.initial_values.has_value());  // the initial value is zero
}

}  // namespace
}  // namespace leapp::importing
