#include "compile/bundle_files.h"

#include "../session/tracing.h"
#include "bundle/safetensors.h"
#include "bundle/staging.h"
#include "bundle/verified_files.h"
#include "hand_made.h"

namespace leapp::compile {
namespace {

using testing::make_node;
using testing::row;
using testing::run;

class BundleFilesTest : public testing::FolderTest {
 protected:
  // A node whose output feeds its second input, with sevens as initial value.
  BundleFilesTest() {
    testing::wire(node_.inputs[1], 0, "y", 2, 1);
    run(node_, {row(1), row(7)}, {row(8)});
    run(node_, {row(1), row(8)}, {row(9)});
    nodes_ = {describe_only(node_)};
  }

  Node node_ = make_node(0, "n", {"x", "last"}, {"y"});
  std::vector<ExportedNode> nodes_;
};

TEST_F(BundleFilesTest, DescribesNodesAndWires) {
  const Bundle bundle = describe_bundle(nodes_, {.python_version = "3.11", .torch_version = "2.9"});
  ASSERT_EQ(bundle.models.size(), 1U);
  EXPECT_EQ(bundle.models[0], nodes_[0].model);
  EXPECT_EQ(bundle.pipeline.feedback_flow, (std::vector<Wire>{{{"n", "y"}, {{"n", "last"}}}}));
  EXPECT_TRUE(bundle.pipeline.configs.empty());
  EXPECT_EQ(bundle.system_information.config_version, kWrittenConfigVersion);
  EXPECT_EQ(bundle.system_information.python_version, "3.11");
  EXPECT_EQ(bundle.system_information.torch_version, "2.9");
  EXPECT_EQ(bundle.system_information.cuda_version, std::nullopt);
  EXPECT_TRUE(bundle.system_information.os);
}

TEST_F(BundleFilesTest, AWholeFrequencyIsWrittenAsOne) {
  const auto configs = [&](double frequency) {
    const GraphConfigs given{.frequency = frequency, .extra = {{"robot", Metadata{true}}}};
    return describe_bundle(nodes_, {.graph_configs = given}).pipeline.configs;
  };
  const Metadata::Entry extra("robot", Metadata{true});
  EXPECT_EQ(configs(50), (Metadata::Map{{"frequency", Metadata{std::int64_t{50}}}, extra}));
  EXPECT_EQ(configs(62.5), (Metadata::Map{{"frequency", Metadata{62.5}}, extra}));
}

TEST_F(BundleFilesTest, NamesThePortsWhoseNamesBeginWithNone) {
  Bundle bundle = describe_bundle(nodes_, {});
  const std::vector<std::string> words(4, "a");
  bundle.models[0].inputs[0].semantics.element_names = ElementNames{words};
  bundle.models[0].inputs[1].semantics.element_names = ElementNames{TemporalAxis{20}, {}};
  EXPECT_EQ(find_unnamed_axes(bundle), std::nullopt);
  bundle.models[0].outputs[0].semantics.element_names = ElementNames{{}, words};
  const std::optional<Diagnostic> found = find_unnamed_axes(bundle);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code, Code::kUnnamedAxis);
  EXPECT_THAT(found->text, ::testing::HasSubstr("n/y"));
}

TEST_F(BundleFilesTest, WritesWhatFeedbackBeginsWith) {
  Bundle bundle = describe_bundle(nodes_, {});
  const auto file = folder_ / "initial.safetensors";
  write_initial_values(nodes_, file, bundle);
  EXPECT_EQ(bundle.pipeline.initial_values, entry_of(file));
  const SafeTensors values = SafeTensors::read(file);
  ASSERT_EQ(values.tensors().size(), 1U);
  const ConstTensorView* value = values.find("n/last");
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(value->shape, (Shape{1, 4}));
  EXPECT_EQ(static_cast<const float*>(value->data)[3], 7.0F);
}

TEST_F(BundleFilesTest, WritesWhatIsReadBeforeItsSourceRuns) {
  Node slow = make_node(0, "slow", {"x"}, {"y"});
  Node fast = make_node(1, "fast", {"y"}, {"z"});
  testing::wire(fast.inputs[0], 0, "y");
  run(slow, {row(1)}, {row(2)});
  run(fast, {row(5)}, {row(0)});
  const std::vector<ExportedNode> nodes = {describe_only(slow), describe_only(fast)};
  const auto file = folder_ / "initial.safetensors";
  for (const int phase : {0, 2}) {
    state::Ticks ticks;
    ticks.add(0, {phase, 0, 0});
    ticks.add(1, {0, 0, 0});
    Bundle bundle = describe_bundle(nodes, {});
    write_initial_values(nodes, file, bundle, ticks);
    EXPECT_EQ(bundle.pipeline.initial_values.has_value(), phase > 0);
    if (phase == 0) continue;
    EXPECT_EQ(SafeTensors::read(file).find("fast/y")->values<float>()[0], 5.0F);
  }
}

TEST_F(BundleFilesTest, WithoutFeedbackThereIsNoFileOfValues) {
  const Node plain = make_node(0, "n", {"x"}, {"y"});
  const std::vector<ExportedNode> nodes = {describe_only(plain)};
  Bundle bundle = describe_bundle(nodes, {});
  write_initial_values(nodes, folder_ / "initial.safetensors", bundle);
  EXPECT_EQ(bundle.pipeline.initial_values, std::nullopt);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(BundleFilesTest, WritesYamlThatReadsAsTheBundle) {
  Bundle bundle = describe_bundle(nodes_, {});
  write_bytes(folder_ / "g.yaml", to_yaml(bundle));
  Bundle found = read_bundle(folder_ / "g.yaml");
  found.file.clear();
  EXPECT_EQ(found, bundle);
}

}  // namespace
}  // namespace leapp::compile
