#include "compile/model_files.h"

#include "../ir/graph_builder.h"
#include "../session/tracing.h"
#include "bundle/verified_files.h"
#include "hand_made.h"

namespace leapp::compile {
namespace {

using leapp::testing::code_of;
using session::Backend;
using testing::kWidth;

const ir::TensorType kRow{DType::kFloat32, {1, kWidth}};

class ModelFilesTest : public testing::FolderTest {
 protected:
  ModelFilesTest() {
    const ir::ValueId x = graph_.add_input("x", kRow);
    graph_.add_output("y", add("aten::relu(self)", {ir::ValueRef{x}}));
  }
  void TearDown() override {
    session::hooks() = {};
    FolderTest::TearDown();
  }
  ir::ValueId add(const std::string& schema, std::vector<ir::Argument> arguments) {
    return ir::testing::add(graph_, ir::testing::op_of(schema, std::move(arguments)), kRow);
  }
  Model write(Backend backend, const std::string& export_with) {
    node_.export_with = export_with;
    ExportedNode compiled = describe_only(node_);
    compiled.model.inputs[0].name = "x_in";
    write_model(backend, graph_, folder_, "2.9", compiled);
    return compiled.model;
  }
  // A front end that writes a file that says which ports it was given.
  static void install_bridge(bool external_data) {
    session::Hooks hooks;
    hooks.bridge = [=](const std::string& backend, const ir::Graph& graph,
                       const std::filesystem::path& file, const Metadata::Map&) {
      std::ofstream(file) << backend << " " << graph.value(graph.inputs()[0]).name;
      if (external_data) std::ofstream(file.string() + ".data") << "weights";
    };
    session::hooks() = hooks;
  }

  Node node_ = testing::make_node(0, "n", {"x"}, {"y"});
  ir::Graph graph_;
};

TEST_F(ModelFilesTest, EveryBackendWritesAFormat) {
  EXPECT_EQ(format_of(Backend::kTorchScript), "jit");
  EXPECT_EQ(format_of(Backend::kOnnx), "onnx");
  EXPECT_EQ(format_of(Backend::kBridgedOnnx), "onnx");
  EXPECT_EQ(format_of(Backend::kExportedProgram), "pt2");
}

TEST_F(ModelFilesTest, WritesTorchScript) {
  const Model model = write(Backend::kTorchScript, "jit");
  EXPECT_EQ(model.file, entry_of(folder_ / "n.pt"));
}

TEST_F(ModelFilesTest, WritesOnnxAsItsParametersSay) {
  node_.backend_params = {{"opset_version", Metadata{std::int64_t{18}}},
                          {"external_data", Metadata{true}}};
  const ir::ValueId weight =
      ir::testing::add_constant(graph_, "w", std::vector<float>(kWidth, 2.0F));
  graph_.set_outputs({{"y", add("aten::mul.Tensor(self, other)",
                                {ir::ValueRef{graph_.inputs()[0]}, ir::ValueRef{weight}})}});
  const Model model = write(Backend::kOnnx, "onnx");
  EXPECT_EQ(model.opset_version, 18);
  EXPECT_EQ(model.file, entry_of(folder_ / "n.onnx"));
  ASSERT_EQ(model.external_data.size(), 1U);
  EXPECT_EQ(model.external_data[0].path, "n.onnx.data");
}

// LP405: there is no Python to ask.
TEST_F(ModelFilesTest, WithoutAFrontEndItsExportersAreMissed) {
  EXPECT_EQ(code_of([&] { write(Backend::kBridgedOnnx, "onnx-dynamo"); }), Code::kNeedsPython);
  EXPECT_EQ(code_of([&] { write(Backend::kExportedProgram, "pt2"); }), Code::kNeedsPython);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(ModelFilesTest, AFrontEndWritesOnnxWithTheModelsNames) {
  install_bridge(true);
  const Model model = write(Backend::kBridgedOnnx, "onnx-dynamo");
  EXPECT_EQ(model.opset_version, 20);
  EXPECT_EQ(model.file, entry_of(folder_ / "n.onnx"));
  EXPECT_EQ(model.external_data, std::vector<FileEntry>{entry_of(folder_ / "n.onnx.data")});
  std::string backend;
  std::string port;
  std::ifstream(folder_ / "n.onnx") >> backend >> port;
  EXPECT_EQ(backend, "onnx-dynamo");
  EXPECT_EQ(port, "x_in");
  EXPECT_EQ(graph_.value(graph_.inputs()[0]).name, "x");  // which stays as it is
}

TEST_F(ModelFilesTest, AFrontEndWritesAnExportedProgramWithItsVersion) {
  install_bridge(false);
  const Model model = write(Backend::kExportedProgram, "pt2");
  EXPECT_EQ(model.torch_version, "2.9");
  EXPECT_EQ(model.opset_version, std::nullopt);
  EXPECT_EQ(model.file, entry_of(folder_ / "n.pt2"));
}

}  // namespace
}  // namespace leapp::compile
