// TorchScript models of an export that get their translation, and those that do not.
#include "compile/translations.h"

#include "../core/runtime/support.h"
#include "bundle/verified_files.h"
#include "compile/own_model.h"
#include "hand_made.h"

namespace leapp::compile {
namespace {

using testing::row;

class TranslationsTest : public testing::FolderTest {
 protected:
  static void SetUpTestSuite() { leapp::testing::find_libraries(); }

  // Exports the node with that file, and runs its passes.
  void roll_out(const std::string& file) {
    std::filesystem::copy_file(leapp::testing::model_file(file), folder_ / "n.pt");
    nodes_ = {describe_only(node_)};
    nodes_[0].model.backend = "jit";
    nodes_[0].ours = true;
    nodes_[0].model.file = entry_of(folder_ / "n.pt");
    bundle_.models = {nodes_[0].model};
    rollout_ = rehearse::roll_out(nodes_, bundle_, folder_, "log.txt", tolerance_);
  }
  void add() { add_translations(nodes_, folder_, tolerance_, {}, rollout_, bundle_); }

  Node node_ = testing::make_node(0, "n", {"x"}, {"y"});
  Tolerance tolerance_;
  std::vector<ExportedNode> nodes_;
  Bundle bundle_;
  rehearse::Rollout rollout_;
};

TEST_F(TranslationsTest, AModelThatAgreesInEveryPassGetsOne) {
  testing::run(node_, {row(1)}, {row(3)});
  testing::run(node_, {row(2)}, {row(5)});
  const FileEntry before = entry_of(leapp::testing::model_file("affine.pt"));
  roll_out("affine.pt");
  add();
  ASSERT_TRUE(rollout_.outcomes[0].translation.has_value());
  EXPECT_EQ(rollout_.outcomes[0].translation->left_out, "");
  EXPECT_EQ(bundle_.models[0].file, entry_of(folder_ / "n.pt"));
  EXPECT_NE(bundle_.models[0].file->sha256sum, before.sha256sum);
  EXPECT_EQ(nodes_[0].model.file, bundle_.models[0].file);
}

TEST_F(TranslationsTest, AModelWithoutOneStaysAsItIs) {
  testing::run(node_, {row(1)}, {row(2)});
  roll_out("writes_input.pt");
  add();
  ASSERT_TRUE(rollout_.outcomes[0].passed);
  ASSERT_TRUE(rollout_.outcomes[0].translation.has_value());
  EXPECT_NE(rollout_.outcomes[0].translation->left_out, "");
  EXPECT_EQ(bundle_.models[0].file, nodes_[0].model.file);
  EXPECT_EQ(entry_of(folder_ / "n.pt").sha256sum,
            entry_of(leapp::testing::model_file("writes_input.pt")).sha256sum);
}

TEST_F(TranslationsTest, AFileOfTheUserStaysAsItIs) {
  testing::run(node_, {row(1)}, {row(3)});
  roll_out("affine.pt");
  nodes_[0].ours = false;
  add();
  ASSERT_TRUE(rollout_.outcomes[0].translation.has_value());
  EXPECT_NE(rollout_.outcomes[0].translation->left_out, "");
  EXPECT_EQ(entry_of(folder_ / "n.pt").sha256sum,
            entry_of(leapp::testing::model_file("affine.pt")).sha256sum);
}

TEST_F(TranslationsTest, OneSampleThatDiffersLeavesItOut) {
  // The sample of the second pass is changed after TorchScript agreed with it.
  testing::run(node_, {row(1)}, {row(3)});
  testing::run(node_, {row(2)}, {row(5)});
  roll_out("affine.pt");
  rollout_.samples[0][1].outputs[0] = row(6);
  add();
  ASSERT_TRUE(rollout_.outcomes[0].translation.has_value());
  EXPECT_NE(rollout_.outcomes[0].translation->left_out, "");
  EXPECT_EQ(entry_of(folder_ / "n.pt").sha256sum,
            entry_of(leapp::testing::model_file("affine.pt")).sha256sum);
}

TEST_F(TranslationsTest, AModelThatFailedItsValidationGetsNone) {
  testing::run(node_, {row(1)}, {row(4)});
  roll_out("affine.pt");
  add();
  EXPECT_FALSE(rollout_.outcomes[0].passed);
  EXPECT_FALSE(rollout_.outcomes[0].translation.has_value());
}

}  // namespace
}  // namespace leapp::compile
