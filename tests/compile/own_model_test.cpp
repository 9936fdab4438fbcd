#include "compile/own_model.h"

#include "../core/onnx/sample_model.h"
#include "../core/runtime/support.h"
#include "../session/tracing.h"
#include "base/hash.h"
#include "hand_made.h"
#include "onnx/writer.h"

namespace leapp::compile {
namespace {

using leapp::testing::code_of;
using leapp::testing::model_file;
using leapp::testing::port;
using testing::kWidth;
using testing::with_states;

Model declare(std::vector<Port> inputs, std::vector<Port> outputs) {
  Model model;
  model.name = "n";
  model.inputs = std::move(inputs);
  model.outputs = std::move(outputs);
  return model;
}

BackendParams own(const std::filesystem::path& source, const std::string& backend = "",
                  bool copy = true) {
  return {.model_path = source.string(), .backend = backend, .copy_original_model = copy};
}

class OwnModelTest : public testing::FolderTest {
 protected:
  std::optional<Code> code(const std::filesystem::path& source, Model model) const {
    return code_of([&] { take_own_model(own(source), folder_, {}, model); });
  }
  // Writes a model y = x * w with its weights in a separate file.
  std::filesystem::path write_with_weights(const std::string& name) const {
    onnx::Model model;
    model.ir_version = 9;
    model.opsets = {{"", 18}};
    onnx::Node mul;
    mul.op_type = "Mul";
    mul.inputs = {"x", "w"};
    mul.outputs = {"y"};
    model.graph.nodes = {mul};
    model.graph.initializers = {onnx::testing::float_tensor("w", std::vector<float>(kWidth, 2.0F))};
    model.graph.inputs = {onnx::testing::info("x", {std::int64_t{1}, kWidth})};
    model.graph.outputs = {onnx::testing::info("y", {std::int64_t{1}, kWidth})};
    std::filesystem::create_directories(folder_ / "own");
    onnx::write_model(model, folder_ / "own" / name, {.external_data = true});
    return folder_ / "own" / name;
  }
};

TEST_F(OwnModelTest, IsCopiedUnderTheNodesName) {
  Model model = declare({port("x")}, {port("y")});
  take_own_model(own(model_file("affine.onnx")), folder_, {}, model);
  EXPECT_EQ(model.backend, "onnx");
  EXPECT_EQ(model.opset_version, 20);
  EXPECT_EQ(model.file->path, "n.onnx");
  EXPECT_EQ(model.file->sha256sum, sha256_file(folder_ / "n.onnx"));
  EXPECT_EQ(model.file->sha256sum, sha256_file(model_file("affine.onnx")));
}

TEST_F(OwnModelTest, IsReferredToWhereItIs) {
  Model model = declare({port("x")}, {port("y")});
  take_own_model(own(model_file("affine.pt"), "", false), folder_, {}, model);
  EXPECT_EQ(model.backend, "jit");
  EXPECT_EQ(model.file->path, std::filesystem::absolute(model_file("affine.pt")).string());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(OwnModelTest, BringsItsWeightsAlong) {
  const auto source = write_with_weights("net.onnx");
  const Model declared = declare({port("x", {1, kWidth})}, {port("y", {1, kWidth})});
  Model model = declared;
  take_own_model(own(source), folder_, {}, model);
  ASSERT_EQ(model.external_data.size(), 1U);
  EXPECT_EQ(model.external_data[0].path, "net.onnx.data");
  EXPECT_EQ(model.external_data[0].sha256sum, sha256_file(folder_ / "net.onnx.data"));
  std::filesystem::remove(source.string() + ".data");
  EXPECT_EQ(code(source, declared), Code::kNotFound);
}

TEST_F(OwnModelTest, FitsItsNode) {
  Port wide = port("x");
  wide.dtype = DType::kFloat64;
  const struct {
    const char* name;
    const char* file;
    Model declared;
    std::optional<Code> code;
  } table[] = {
      {"open batch", "affine_open_batch.onnx", declare({port("x", {7, 4})}, {port("y", {7, 4})}),
       std::nullopt},
      {"another input", "affine.onnx", declare({port("z")}, {port("y")}), Code::kOwnModel},
      {"another output", "affine.onnx", declare({port("x")}, {port("z")}), Code::kOwnModel},
      {"another type", "affine.onnx", declare({wide}, {port("y")}), Code::kOwnModel},
      {"another shape", "affine.onnx", declare({port("x", {2, 4})}, {port("y")}), Code::kOwnModel},
      {"another rank", "affine.onnx", declare({port("x", {4})}, {port("y")}), Code::kOwnModel},
      {"an input too few", "recurrent.onnx", declare({port("x")}, {port("y")}), Code::kOwnModel},
      {"TorchScript, an input too few", "recurrent.pt", declare({port("x")}, {port("y")}),
       Code::kOwnModel},
      {"no such file", "none.onnx", declare({port("x")}, {port("y")}), Code::kNotFound},
      {"no model", "make_models.py", declare({port("x")}, {port("y")}), Code::kOwnModel},
  };
  for (const auto& line : table) {
    EXPECT_EQ(code(model_file(line.file), line.declared), line.code) << line.name;
  }
}

TEST_F(OwnModelTest, IsReadable) {
  std::ofstream(folder_ / "broken.pt") << "no zip archive";
  EXPECT_EQ(code(folder_ / "broken.pt", declare({port("x")}, {port("y")})), Code::kOwnModel);
  EXPECT_EQ(backend_of(own(folder_ / "broken.pt"), "n"), "jit");  // which only checks the model
}

TEST_F(OwnModelTest, ItsBackendMayBeNamed) {
  const auto source = folder_ / "policy.torchscript";
  std::filesystem::copy_file(model_file("affine.pt"), source);
  Model model = declare({port("x")}, {port("y")});
  EXPECT_EQ(code(source, model), Code::kOwnModel);
  take_own_model(own(source, "jit"), folder_, {}, model);
  EXPECT_EQ(model.backend, "jit");
  EXPECT_EQ(model.file->path, "n.pt");
  EXPECT_EQ(code_of([&] { backend_of(own(source, "trt"), "n"); }), Code::kUnknownBackend);
}

TEST_F(OwnModelTest, InputsThatNobodyReadsAreDropped) {
  const auto inputs_of = [&](const char* file, const std::set<std::string>& unused) {
    Model model = declare({port("x"), port("idle")}, {port("y")});
    take_own_model(own(model_file(file), "", false), folder_, unused, model);
    std::vector<std::string> names;
    for (const Port& input : model.inputs) names.push_back(input.name);
    return names;
  };
  EXPECT_EQ(inputs_of("affine.onnx", {"x", "idle"}), std::vector<std::string>{"x"});
  EXPECT_EQ(inputs_of("affine.pt", {"x", "idle"}), std::vector<std::string>{"x"});
  EXPECT_EQ(code_of([&] { inputs_of("affine.onnx", {}); }), Code::kOwnModel);
  EXPECT_EQ(code_of([&] { inputs_of("affine.pt", {}); }), Code::kOwnModel);
}

TEST(DescribeOnlyTest, DescribesANodeAsItWasAnnotated) {
  const Node node = with_states();
  const ExportedNode made = describe_only(node);
  EXPECT_EQ(made.model.name, "n");
  EXPECT_FALSE(made.model.file);
  EXPECT_EQ(made.input_names, (std::vector<std::string>{"x", "h", "k"}));
  EXPECT_EQ(made.output_names, (std::vector<std::string>{"y", "h"}));
  EXPECT_EQ(made.model.inputs.at(1).shape, (Shape{1, 4}));
  ASSERT_EQ(made.states.states.size(), 1U);
  EXPECT_EQ(made.states.states[0].slot.name, "h");
  EXPECT_FALSE(made.states.states[0].fed_by);
  EXPECT_FALSE(made.ours);
}

TEST(DescribeOnlyTest, StaticOutputsComeLast) {
  Node node = with_states();
  node.outputs.insert(node.outputs.begin(), testing::port("gain"));
  node.outputs.front().is_static = true;
  EXPECT_EQ(describe_only(node).output_names, (std::vector<std::string>{"y", "h", "gain"}));
}

class UnusedInputsTest : public leapp::testing::Tracing {};

TEST_F(UnusedInputsTest, AreThoseThatNothingDependsOn) {
  begin();
  at::Tensor memory = at::zeros({2});
  const auto given = annotate::input_tensors(
      "n", {{"x", at::ones({2})}, {"idle", at::ones({2})}, {"written", at::ones({2})}});
  const at::Tensor idle = given[1] * 2;
  memory.add_(given[2]);
  out("n", given[0] * 2);
  EXPECT_EQ(unused_inputs(node()), std::set<std::string>{"idle"});
  Node unrecorded = with_states();
  EXPECT_TRUE(unused_inputs(unrecorded).empty());
}

}  // namespace
}  // namespace leapp::compile
