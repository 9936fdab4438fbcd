// The resulting bundle, and the files that remain after a failure. tests/python/test_import_*.py
// tests what it computes, because that needs a runtime.
#include "leapp/tools/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support.h"

namespace leapp {
namespace {

using leapp::testing::error_of;
using leapp::testing::Folder;
using leapp::testing::tracking_model;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

onnx::Properties metadata() {
  return {{"joint_names", "hip,knee"},        {"joint_stiffness", "20,20"},
          {"joint_damping", "1,1"},           {"default_joint_pos", "0.1,0.2"},
          {"observation_names", "joint_pos"}, {"action_scale", "0.25"}};
}

onnx::Model policy() {
  onnx::Model model = tracking_model(2);
  model.graph.inputs.pop_back();
  model.graph.outputs.pop_back();
  model.graph.nodes.erase(model.graph.nodes.begin());
  model.metadata = metadata();
  return model;
}

TEST(ImportTest, ABundleOfThreeNodes) {
  const Folder folder;
  const ImportedPolicy imported = import_onnx(folder.write(policy()), folder.path() / "walker");
  EXPECT_EQ(imported.format, "beyondmimic");
  const Bundle bundle = read_bundle(imported.bundle.file);
  verify_files(bundle);
  std::vector<std::string> nodes;
  for (const Model& model : bundle.models) nodes.push_back(model.name);
  EXPECT_THAT(nodes, ElementsAre("observe", "policy", "act"));
  EXPECT_EQ(bundle.find_input({"observe", "joint_pos"})->semantics.kind, "state/joint/position");
  EXPECT_THAT(bundle.pipeline.outputs[0].ports, ElementsAre("joint_pos_target", "kp", "kd"));
}

TEST(ImportTest, EqualPoliciesGiveEqualBundles) {
  const Folder folder;
  const auto model = folder.write(policy());
  const auto text = [&](const char* name) {
    const Bundle bundle = import_onnx(model, folder.path() / name / "walker").bundle;
    return to_yaml(bundle);
  };
  EXPECT_EQ(text("a"), text("b"));
}

TEST(ImportTest, NothingIsWrittenWhereTheModelSaysNothing) {
  const Folder folder;
  onnx::Model model = policy();
  model.metadata.clear();
  const auto path = folder.write(model);
  const auto target = folder.path() / "walker";
  EXPECT_THAT(error_of([&] { import_onnx(path, target); }), StartsWith("LP821"));
  EXPECT_FALSE(std::filesystem::exists(target));
  EXPECT_THAT(error_of([&] { import_onnx(folder.path() / "no.onnx", target); }),
              StartsWith("LP004"));
}

TEST(ImportTest, TheModelItselfIsNotOverwritten) {
  const Folder folder;
  const auto path = folder.write(policy());
  EXPECT_THAT(error_of([&] { import_onnx(path, folder.path()); }),
              HasSubstr("the directory that contains it"));
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "act.onnx"));
}

TEST(ImportTest, SettingsMayGiveAllOfIt) {
  const Folder folder;
  onnx::Model model = policy();
  model.metadata.clear();
  const ImportOptions options{.deploy = {}, .settings = metadata()};
  const auto target = folder.path() / "walker";
  EXPECT_EQ(import_onnx(folder.write(model), target, options).format, "beyondmimic");
}

TEST(ImportTest, AReferenceThatNeedsTheObservationCannotComeBeforeIt) {
  const Folder folder;
  onnx::Model model = tracking_model(2);
  model.graph.nodes[0].inputs = {"obs"};
  model.metadata = metadata();
  model.metadata.emplace_back("anchor_body_name", "torso");
  model.metadata.emplace_back("body_names", "torso");
  EXPECT_THAT(error_of([&] { import_onnx(folder.write(model), folder.path() / "walker"); }),
              HasSubstr("depend on more inputs than 'time_step'"));
}

TEST(ImportTest, BrokenFilesAreErrors) {
  const Folder folder;
  const auto model = folder.write(policy());
  const auto deploy = folder.path() / "deploy.yaml";
  const auto import_with = [&](const std::string& text) {
    std::ofstream(deploy) << text;
    return error_of([&] { import_onnx(model, folder.path() / "walker", {.deploy = deploy}); });
  };
  EXPECT_THAT(import_with("joint_ids_map: [0, 1"), HasSubstr("deploy.yaml"));
  EXPECT_THAT(import_with("- 1"), StartsWith("LP821"));
  EXPECT_THAT(import_with(""), HasSubstr("deploy.yaml"));
  EXPECT_THAT(import_with("joint_ids_map: {a: b}"), HasSubstr("expected a list"));
  EXPECT_THAT(import_with("joint_ids_map: [0, 1]"), StartsWith("LP822"));
  EXPECT_THAT(import_with("robot: {observations: []}"), StartsWith("LP822"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "walker"));
}

}  // namespace
}  // namespace leapp
