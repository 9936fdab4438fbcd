// Translations in TorchScript files, as engines.
#include "torch_engine/translation.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <torch/csrc/jit/api/module.h>

#include <fstream>
#include <iterator>

#include "../core/runtime/support.h"
#include "onnx/reader.h"
#include "onnx/writer.h"

namespace leapp {
namespace {

using leapp::testing::message_of;
using leapp::testing::port;
using ::testing::EndsWith;
using ::testing::HasSubstr;

Model node(const std::string& name, std::vector<Port> inputs, std::vector<Port> outputs) {
  Model made;
  made.name = name;
  made.inputs = std::move(inputs);
  made.outputs = std::move(outputs);
  return made;
}

struct Bytes {
  explicit Bytes(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(stream), {});
    file.path = path;
    file.bytes = std::as_bytes(std::span(text));
  }
  std::string text;
  ModelFile file;
};

Bytes model(const std::string& name) {
  return Bytes(leapp::testing::model_file(name));
}

// A TorchScript file with a record of that content.
Bytes with_record(const std::string& onnx) {
  torch::jit::Module module("n");
  module.define("def forward(self, x):\n    return x * 2.0\n");
  const auto path = std::filesystem::temp_directory_path() / "leapp_translation_test.pt";
  module.save(path.string(), {{"leapp_translation.onnx", onnx}});
  Bytes bytes(path);
  std::filesystem::remove(path);
  return bytes;
}

std::vector<float> run(Engine& engine, const std::vector<at::Tensor>& inputs, std::size_t outputs) {
  std::vector<ConstTensorView> read;
  for (const at::Tensor& each : inputs) {
    read.push_back({each.const_data_ptr(), DType::kFloat32, {1, 4}});
  }
  std::vector<at::Tensor> found(outputs);
  std::vector<TensorView> written;
  for (at::Tensor& each : found) {
    each = at::empty({1, 4});
    written.push_back({each.data_ptr(), DType::kFloat32, {1, 4}});
  }
  engine.bind(read, written)->run().value();
  std::vector<float> values;
  for (const at::Tensor& each : found) values.push_back(each[0][0].item<float>());
  return values;
}

class TranslationTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { leapp::testing::find_libraries(); }

  const Model affine_ = node("a", {port("x")}, {port("y")});
  // One name on both sides, as state has it.
  const Model recurrent_ = node("r", {port("x"), port("h")}, {port("y"), port("h")});
};

TEST_F(TranslationTest, b42_RunsWithTheWeightsOfTheFile) {
  const Bytes bytes = model("affine_translated.pt");
  const auto engine = load_translation(affine_, bytes.file, {});
  ASSERT_NE(engine, nullptr);
  EXPECT_THAT(engine->description(), EndsWith("translated from TorchScript"));
  EXPECT_THAT(run(*engine, {at::full({1, 4}, 3.0)}, 1), ::testing::ElementsAre(7));
}

TEST_F(TranslationTest, AFileWithoutOneHasNone) {
  EXPECT_EQ(load_translation(affine_, model("affine.pt").file, {}), nullptr);
}

TEST_F(TranslationTest, OneThatDoesNotFitTheNodeIsNotUsed) {
  const Model wider = node("a", {port("x", {1, 5})}, {port("y", {1, 5})});
  EXPECT_EQ(load_translation(wider, model("affine_translated.pt").file, {}), nullptr);
}

TEST_F(TranslationTest, OneThatNoOnnxModelMayLookLikeIsRefused) {
  const Bytes bytes = with_record("not ONNX");
  EXPECT_THAT(message_of([&] { load_translation(affine_, bytes.file, {}); }), EndsWith("[LP617]"));
}

TEST_F(TranslationTest, AWeightThatTheFileDoesNotHaveIsRefused) {
  onnx::Model translation;
  translation.ir_version = 9;
  translation.opsets = {{"", 20}};
  onnx::Tensor& weight = translation.graph.initializers.emplace_back();
  weight.name = "w";
  weight.type = onnx::ElementType::kFloat;
  weight.dims = {4};
  weight.external = onnx::ExternalData{"data/7", 0, 16};
  const Bytes bytes = with_record(onnx::serialize(translation));
  EXPECT_THAT(message_of([&] { load_translation(affine_, bytes.file, {}); }),
              ::testing::AllOf(HasSubstr("data/7"), EndsWith("[LP617]")));
}

TEST_F(TranslationTest, SeveralBecomeOneEngine) {
  Bundle part;
  part.models = {affine_, recurrent_};
  part.pipeline.data_flow = {{{"a", "y"}, {{"r", "x"}}}};
  part.pipeline.inputs = {{"a", {"x"}}, {"r", {"h"}}};
  part.pipeline.outputs = {{"r", {"y", "h"}}};
  const Model whole = node("a+r", {port("a/x"), port("r/h")}, {port("r/y"), port("r/h")});
  const Bytes a = model("affine_translated.pt");
  const Bytes r = model("recurrent_translated.pt");
  const auto engine = merge_translations(part, {{a.file, nullptr}, {r.file, nullptr}}, whole, {});
  ASSERT_NE(engine, nullptr);
  EXPECT_THAT(run(*engine, {at::full({1, 4}, 3.0), at::full({1, 4}, 5.0)}, 2),
              ::testing::ElementsAre(12, 6));
}

TEST_F(TranslationTest, OnlyAllOrNoneOfSeveralAreMerged) {
  Bundle part;
  part.models = {affine_, recurrent_};
  const Bytes a = model("affine.pt");
  const Bytes r = model("recurrent_translated.pt");
  const std::vector<LoadedNode> both = {{a.file, nullptr}, {r.file, nullptr}};
  EXPECT_THAT(message_of([&] { merge_translations(part, both, affine_, {}); }),
              EndsWith("[LP620]"));
  EXPECT_EQ(merge_translations(part, {both[0], both[0]}, affine_, {}), nullptr);
}

}  // namespace
}  // namespace leapp
