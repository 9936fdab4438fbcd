#include "rehearse/golden_ticks.h"

#include "../compile/hand_made.h"
#include "bundle/golden_traces.h"

namespace leapp::rehearse {
namespace {

using compile::testing::make_node;
using compile::testing::row;
using compile::testing::run;

class GoldenTicksTest : public compile::testing::FolderTest {
 protected:
  // A node whose y is fed back to h: three passes, the last of which may receive another value.
  std::optional<Diagnostic> write(std::size_t wanted, double last = 5) {
    run(node_, {row(0), row(9)}, {row(3)});
    run(node_, {row(3), row(9)}, {row(5)});
    run(node_, {row(last), row(9)}, {row(7)});
    compile::testing::wire(node_.inputs[0], 0, "y", 2, 1);
    ExportedNode compiled = compile::describe_only(node_);
    if (has_model_) compiled.model.file = FileEntry{"n.onnx", "", std::string(64, 'a')};
    bundle_.models = {compiled.model};
    bundle_.pipeline.feedback_flow = {{{"n", "y"}, {{"n", "h"}}}};
    bundle_.pipeline.inputs = {{"n", {"x"}}};
    bundle_.pipeline.outputs = {{"n", {"y"}}};
    return write_golden({compiled}, wanted, {}, folder_ / "golden.safetensors", bundle_);
  }
  GoldenTraces read() const {
    return GoldenTraces(bundle_, FileBytes(folder_ / "golden.safetensors"));
  }

  Node node_ = make_node(0, "n", {"h", "x"}, {"y"});
  Bundle bundle_;
  bool has_model_ = true;
};

TEST_F(GoldenTicksTest, PassesBecomeTicks) {
  EXPECT_FALSE(write(2));
  const GoldenTraces traces = read();
  EXPECT_EQ(traces.ticks(), 2u);
  EXPECT_EQ(traces.input(1, {"n", "h"})->values<float>()[0], 3.0F);
  EXPECT_EQ(traces.output(1, {"n", "y"})->values<float>()[0], 5.0F);
  EXPECT_EQ(bundle_.pipeline.golden->path, "golden.safetensors");
  EXPECT_EQ(bundle_.pipeline.golden->sha256sum.size(), 64u);
}

TEST_F(GoldenTicksTest, TheyEndWhereAWireCarriedSomethingElse) {
  const auto said = write(3, 0);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->code, Code::kFewerGolden);
  EXPECT_EQ(read().ticks(), 2u);
}

TEST_F(GoldenTicksTest, ThereAreNoMoreThanPasses) {
  const auto said = write(8);
  ASSERT_TRUE(said);
  EXPECT_EQ(read().ticks(), 3u);
}

// A node of which each tick runs two passes, in every second tick, and one that runs in all ticks.
TEST_F(GoldenTicksTest, ATickOfAScheduleHasItsFirstInputsAndItsLastOutputs) {
  Node slow = make_node(0, "slow", {"x"}, {"y"});
  Node fast = make_node(1, "fast", {"y", "s"}, {"z"});
  compile::testing::wire(fast.inputs[0], 0, "y");
  for (const double value : {1, 2, 3, 4}) run(slow, {row(value)}, {row(value + 1)});
  for (const double value : {3, 3, 5}) run(fast, {row(value), row(8)}, {row(10 * value)});
  state::Ticks ticks;
  ticks.add(0, {0, 0, 1});
  ticks.add(0, {2, 2, 3});
  for (int tick = 0; tick < 3; ++tick) ticks.add(1, {tick, tick, tick});
  ticks.set_count(3);
  std::vector<ExportedNode> nodes = {compile::describe_only(slow), compile::describe_only(fast)};
  for (ExportedNode& node : nodes) {
    node.model.file = FileEntry{"n.onnx", "", std::string(64, 'a')};
    bundle_.models.push_back(node.model);
  }
  bundle_.pipeline.data_flow = {{{"slow", "y"}, {{"fast", "y"}}}};
  bundle_.pipeline.inputs = {{"fast", {"s"}}, {"slow", {"x"}}};
  bundle_.pipeline.outputs = {{"fast", {"z"}}};
  bundle_.pipeline.schedule = {{.node = "slow", .every = 2, .repeat = 2, .carry = {{"y", "x"}}}};
  EXPECT_FALSE(write_golden(nodes, 3, {}, folder_ / "golden.safetensors", bundle_, ticks));
  const GoldenTraces traces = read();
  const auto number = [](const ConstTensorView* value) { return value->values<float>()[0]; };
  EXPECT_EQ(traces.ticks(), 3u);
  EXPECT_EQ(number(traces.input(0, {"slow", "x"})), 1.0F);
  EXPECT_EQ(number(traces.output(0, {"slow", "y"})), 3.0F);
  EXPECT_EQ(number(traces.output(1, {"slow", "y"})), 3.0F);  // held
  EXPECT_EQ(number(traces.output(2, {"slow", "y"})), 5.0F);
  EXPECT_EQ(number(traces.input(1, {"fast", "y"})), 3.0F);
  EXPECT_NE(traces.input(1, {"slow", "x"}), nullptr);  // a caller supplies it in every tick
}

TEST_F(GoldenTicksTest, ABundleThatCannotRunKeepsNone) {
  has_model_ = false;
  const auto said = write(2);
  ASSERT_TRUE(said);
  EXPECT_NE(said->text.find("node 'n' has no model"), std::string::npos) << said->text;
  EXPECT_FALSE(bundle_.pipeline.golden);
}

}  // namespace
}  // namespace leapp::rehearse
