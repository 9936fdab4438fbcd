#include "import/draft.h"

#include <gmock/gmock.h>

#include "import/clock.h"
#include "import/meaning.h"
#include "leapp/error.h"
#include "run_part.h"
#include "support.h"

namespace leapp::importing {
namespace {

using leapp::testing::Folder;
using leapp::testing::onnx_17;
using ::testing::ElementsAre;

Part doubling(const std::string& name) {
  NodeWriter writer(name, onnx_17());
  const std::string x = writer.input(plain_port("x", {1, 1}));
  writer.output(plain_port("y", {1, 1}), writer.op("Add", {x, x}));
  return std::move(writer).take();
}

TEST(DraftTest, PortsWithoutAWireAreTheControllers) {
  const Folder folder;
  Draft draft;
  draft.add(doubling("a"));
  draft.add(doubling("b"));
  draft.wire({"a", "y"}, {"b", "x"});
  const Bundle written = draft.write(folder.path() / "pair");
  EXPECT_EQ(written.file, folder.path() / "pair" / "pair.yaml");
  const Bundle read = read_bundle(written.file);
  ASSERT_EQ(read.pipeline.inputs.size(), 1U);
  EXPECT_EQ(read.pipeline.inputs[0].node, "a");
  ASSERT_EQ(read.pipeline.outputs.size(), 1U);
  EXPECT_EQ(read.pipeline.outputs[0].node, "b");
}

TEST(DraftTest, NodesThatGiveTheSameTogetherAreMerged) {
  leapp::testing::find_libraries();
  const Folder folder;
  Draft draft;
  draft.add(doubling("a"));
  draft.add(doubling("b"));
  draft.wire({"a", "y"}, {"b", "x"});
  const Bundle read = read_bundle(draft.write(folder.path() / "pair").file);
  ASSERT_TRUE(read.pipeline.merged.has_value());
  EXPECT_THAT(*read.pipeline.merged, ElementsAre(ElementsAre("a", "b")));
}

TEST(DraftTest, StateIsHiddenAndBeginsWithItsInitialValue) {
  const Folder folder;
  Draft draft;
  NodeWriter writer("sum", onnx_17());
  const std::string x = writer.input(plain_port("x", {1, 1}));
  const std::string h = writer.input(plain_port("h", {1, 1}));
  const std::string next = writer.op("Add", {x, h});
  writer.output(plain_port("y", {1, 1}), next);
  writer.output(plain_port("h_next", {1, 1}), next);
  draft.add(std::move(writer).take());
  draft.feed_back({"sum", "h_next"}, {"sum", "h"}, Tensor({1, 1}, std::initializer_list<float>{3}));
  draft.hide({"sum", "h_next"});
  const Bundle read = read_bundle(draft.write(folder.path() / "sum").file);
  EXPECT_THAT(read.pipeline.outputs[0].ports, ElementsAre("y"));
  EXPECT_THAT(read.pipeline.inputs[0].ports, ElementsAre("x"));
  EXPECT_TRUE(read.pipeline.initial_values.has_value());
}

TEST(DraftTest, ADraftThatIsNoBundleIsNotWritten) {
  const Folder folder;
  Draft draft;
  draft.add(doubling("a"));
  draft.wire({"a", "nowhere"}, {"a", "x"});
  EXPECT_THROW(draft.write(folder.path() / "broken"), Error);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "broken"));
}

}  // namespace
}  // namespace leapp::importing
