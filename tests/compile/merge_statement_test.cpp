#include "compile/merge_statement.h"

#include "../core/runtime/support.h"
#include "bundle/verified_files.h"
#include "compile/own_model.h"
#include "hand_made.h"

namespace leapp::compile {
namespace {

using testing::row;
using Groups = std::vector<std::vector<std::string>>;

// a -> b, each 2 x + 1.
class MergeStatementTest : public testing::FolderTest {
 protected:
  static void SetUpTestSuite() { leapp::testing::find_libraries(); }

  void SetUp() override {
    FolderTest::SetUp();
    testing::run(a_, {row(1)}, {row(3)});
    testing::run(a_, {row(2)}, {row(5)});
    testing::run(b_, {row(3)}, {row(7)});
    testing::run(b_, {row(5)}, {row(11)});
    nodes_ = {describe_only(a_), describe_only(b_)};
    for (ExportedNode& node : nodes_) {
      const std::filesystem::path file = folder_ / (node.model.name + ".onnx");
      std::filesystem::copy_file(leapp::testing::model_file("affine.onnx"), file);
      node.model.backend = "onnx";
      node.model.opset_version = 20;
      node.model.file = entry_of(file);
      bundle_.models.push_back(node.model);
    }
    bundle_.pipeline.data_flow = {{{"a", "y"}, {{"b", "x"}}}};
    bundle_.pipeline.inputs = {{"a", {"x"}}};
    bundle_.pipeline.outputs = {{"b", {"y"}}};
    rollout_ = rehearse::roll_out(nodes_, bundle_, folder_, "log.txt", Tolerance{});
  }

  std::optional<Groups> state() {
    state_merged(nodes_, folder_, rollout_, bundle_);
    return bundle_.pipeline.merged;
  }

  Node a_ = testing::make_node(0, "a", {"x"}, {"y"});
  Node b_ = testing::make_node(1, "b", {"x"}, {"y"});
  std::vector<ExportedNode> nodes_;
  Bundle bundle_;
  rehearse::Rollout rollout_;
};

TEST_F(MergeStatementTest, NodesThatAgreeOnEverySampleAreStated) {
  EXPECT_EQ(state(), Groups({{"a", "b"}}));
}

TEST_F(MergeStatementTest, NodesWithoutSamplesAreNot) {
  rollout_.samples[1].clear();
  EXPECT_EQ(state(), std::nullopt);
}

TEST_F(MergeStatementTest, NodesThatFailedAreNot) {
  rollout_.outcomes[0].passed = false;
  EXPECT_EQ(state(), std::nullopt);
}

TEST_F(MergeStatementTest, NodesWithoutACommonPassAreNot) {
  for (rehearse::RolloutSample& sample : rollout_.samples[1]) sample.pass += 10;
  EXPECT_EQ(state(), Groups());
}

}  // namespace
}  // namespace leapp::compile
