// Model files run on what hand-made passes took in.
#include "compile/replay.h"

#include "../runtime/support.h"
#include "hand_made.h"
#include "session/hooks.h"

namespace leapp::compile {
namespace {

using testing::make_node;
using testing::row;
using testing::run;

class ReplayTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { leapp::testing::find_libraries(); }
  void TearDown() override { session::set_hooks({}); }

  // The node runs the file, which computes 2 x + 1.
  static NodeOutcome validate(const Node& node, const std::string& file = "affine.onnx",
                              const std::string& backend = "onnx") {
    CompiledNode compiled = describe_only(node);
    compiled.model.backend = backend;
    if (!file.empty()) compiled.model.file = FileEntry{file, "", ""};
    const auto outcomes = validate_nodes({compiled}, leapp::testing::model_file(""), "log.txt", {});
    return outcomes.at(0);
  }

  Node node_ = make_node(0, "n", {"x"}, {"y"});
};

TEST_F(ReplayTest, AModelThatComputesTheSamePasses) {
  run(node_, {row(1)}, {row(3)});
  run(node_, {row(2)}, {row(5)});
  const NodeOutcome outcome = validate(node_);
  EXPECT_EQ(outcome.node, "n");
  EXPECT_TRUE(outcome.passed);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.not_compared, "");
}

TEST_F(ReplayTest, AModelThatComputesSomethingElseFails) {
  run(node_, {row(1)}, {row(3)});
  run(node_, {row(2)}, {row(6)});
  const NodeOutcome outcome = validate(node_);
  EXPECT_FALSE(outcome.passed);
  EXPECT_EQ(outcome.error, "");
}

TEST_F(ReplayTest, AFileThatIsNotThereFails) {
  run(node_, {row(1)}, {row(3)});
  const NodeOutcome outcome = validate(node_, "none.onnx");
  EXPECT_FALSE(outcome.passed);
  EXPECT_NE(outcome.error.find("none.onnx"), std::string::npos) << outcome.error;
}

TEST_F(ReplayTest, APassWhoseValuesDoNotFitFails) {
  run(node_, {row(1)}, {row(3)});
  run(node_, {at::ones({1, 5})}, {at::ones({1, 5})});
  EXPECT_FALSE(validate(node_).passed);
}

TEST_F(ReplayTest, ANodeWithoutAModelPasses) {
  run(node_, {row(1)}, {row(9)});
  EXPECT_TRUE(validate(node_, "").passed);
}

TEST_F(ReplayTest, ANodeThatDrawsRandomNumbersIsRunAndNotCompared) {
  run(node_, {row(1)}, {row(9)});
  node_.random = true;
  const NodeOutcome outcome = validate(node_);
  EXPECT_TRUE(outcome.passed);
  EXPECT_NE(outcome.not_compared, "");
  EXPECT_FALSE(validate(node_, "none.onnx").passed);
}

TEST_F(ReplayTest, AFrontEndRunsWhatOnlyItCan) {
  run(node_, {row(1)}, {row(3)});
  EXPECT_NE(validate(node_, "net.pt2", "pt2").not_compared, "");
  session::Hooks hooks;
  double factor = 3;
  hooks.replay = [&](const std::filesystem::path& file, const std::vector<at::Tensor>& inputs) {
    EXPECT_EQ(file.filename(), "net.pt2");
    return std::vector<at::Tensor>{inputs.at(0) * factor};
  };
  session::set_hooks(hooks);
  EXPECT_TRUE(validate(node_, "net.pt2", "pt2").passed);
  EXPECT_EQ(validate(node_, "net.pt2", "pt2").not_compared, "");
  factor = 4;
  EXPECT_FALSE(validate(node_, "net.pt2", "pt2").passed);
}

}  // namespace
}  // namespace leapp::compile
