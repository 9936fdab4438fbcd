#include "rehearse/model_engine.h"

#include <gtest/gtest.h>

#include "../compile/hand_made.h"

namespace leapp::rehearse {
namespace {

class ModelEngineTest : public compile::testing::FolderTest {
 protected:
  // Writes a sparse file of that size as the model of a node.
  std::vector<ExportedNode> node_with(std::uintmax_t bytes) {
    std::ofstream(folder_ / "n.onnx").close();
    std::filesystem::resize_file(folder_ / "n.onnx", bytes);
    ExportedNode node = compile::describe_only(node_);
    node.model.file = FileEntry{"n.onnx", "", ""};
    return {node};
  }

  session::Node node_ = compile::testing::make_node(0, "n", {"x"}, {"y"});
};

TEST_F(ModelEngineTest, AProgramOfPythonNeedsAnExternalBackend) {
  Model model;
  model.backend = "pt2";
  EXPECT_NE(why_not_run(model, false), "");
  EXPECT_EQ(why_not_run(model, true), "");
  model.backend = "onnx";
  EXPECT_EQ(why_not_run(model, false), "");
}

TEST_F(ModelEngineTest, ManyWeightsStayInTheirFiles) {
  EXPECT_FALSE(have_many_weights(node_with(1000), folder_));
  EXPECT_TRUE(have_many_weights(node_with(std::uintmax_t{65} << 20), folder_));
}

TEST_F(ModelEngineTest, ARefusalNamesNoTemporaryFolder) {
  const Error refusal(Code::kNotTrusted, "the model " + (folder_ / "n.pt").string() + " is code");
  const Diagnostic said = needs_trust("n", folder_, refusal);
  EXPECT_EQ(said.code, Code::kNotTrusted);
  EXPECT_EQ(said.node, "n");
  EXPECT_EQ(said.text.find(folder_.string()), std::string::npos);
}

}  // namespace
}  // namespace leapp::rehearse
