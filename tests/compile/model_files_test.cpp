#include "compile/model_files.h"

#include "../ir/graph_builder.h"
#include "../session/test_backend.h"
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
  ir::ValueId add(const std::string& schema, std::vector<ir::Argument> arguments) {
    return ir::testing::add(graph_, ir::testing::op_of(schema, std::move(arguments)), kRow);
  }
  Model write(Backend backend, const std::string& export_with,
              session::ExternalBackend* external = nullptr) {
    node_.export_with = export_with;
    ExportedNode compiled = describe_only(node_);
    compiled.model.inputs[0].name = "x_in";
    write_model(backend, graph_, folder_, "2.9", compiled, external);
    return compiled.model;
  }
  // Writes a file that names the backend and the first input.
  static leapp::testing::TestBackend backend_with(bool external_data) {
    leapp::testing::TestBackend external;
    external.writes = [=](const session::ExternalExport& node) {
      EXPECT_TRUE(std::filesystem::exists(node.script));
      const ir::ValueId input = node.graph.inputs()[0];
      std::ofstream(node.file) << node.backend << " " << node.graph.value(input).name;
      if (external_data) std::ofstream(node.file.string() + ".data") << "weights";
    };
    return external;
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

// LP405, because this is not Python.
TEST_F(ModelFilesTest, SomeBackendsNeedAnExternalOne) {
  EXPECT_EQ(code_of([&] { write(Backend::kBridgedOnnx, "onnx-dynamo"); }), Code::kNeedsPython);
  EXPECT_EQ(code_of([&] { write(Backend::kExportedProgram, "pt2"); }), Code::kNeedsPython);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(ModelFilesTest, AnExternalBackendWritesOnnxWithTheModelsNames) {
  auto external = backend_with(true);
  const Model model = write(Backend::kBridgedOnnx, "onnx-dynamo", &external);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "n.onnx.script"));
  EXPECT_EQ(model.opset_version, 20);
  EXPECT_EQ(model.file, entry_of(folder_ / "n.onnx"));
  EXPECT_EQ(model.external_data, std::vector<FileEntry>{entry_of(folder_ / "n.onnx.data")});
  std::string backend;
  std::string port;
  std::ifstream(folder_ / "n.onnx") >> backend >> port;
  EXPECT_EQ(backend, "onnx-dynamo");
  EXPECT_EQ(port, "x_in");
  EXPECT_EQ(graph_.value(graph_.inputs()[0]).name, "x");  // it stays unchanged
}

TEST_F(ModelFilesTest, AnExternalBackendWritesAnExportedProgramWithItsVersion) {
  auto external = backend_with(false);
  const Model model = write(Backend::kExportedProgram, "pt2", &external);
  EXPECT_EQ(model.torch_version, "2.9");
  EXPECT_EQ(model.opset_version, std::nullopt);
  EXPECT_EQ(model.file, entry_of(folder_ / "n.pt2"));
}

}  // namespace
}  // namespace leapp::compile
