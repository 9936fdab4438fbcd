#include "leapp/engine.h"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <fstream>

#include "runtime/engines/in_place.h"
#include "runtime/engines/onnx/provider.h"
#include "support.h"

namespace leapp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace leapp::testing;

Model affine(const std::string& backend) {
  Model model;
  model.name = "affine";
  model.inputs = {port("x")};
  model.outputs = {port("y")};
  model.backend = backend;
  return model;
}

class EngineTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { find_libraries(); }
};

// Both engines, on files that compute the same.
class EveryEngineTest : public ::testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { find_libraries(); }
  void SetUp() override {
#ifndef LEAPP_TEST_LIBRARIES
    if (backend() == "jit") GTEST_SKIP() << "built without libtorch";
#endif
  }
  std::string backend() const {
    return GetParam();
  }
  std::filesystem::path file(const std::string& name) const {
    return model_file(name + (backend() == "jit" ? ".pt" : ".onnx"));
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, EveryEngineTest, ::testing::Values("onnx", "jit"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(EveryEngineTest, RunsInTheBuffersItIsBoundTo) {
  const auto engine = load_engine(affine(backend()), file("affine"));
  Row x{{1, 2, 3, 4}};
  Row y{{0, 0, 0, 0}};
  const auto binding = engine->bind(std::array{ConstTensorView(x.view())}, std::array{y.view()});
  binding->run().value();
  EXPECT_THAT(y.values, ElementsAre(3, 5, 7, 9));
  x.values = {0, -1, 0.5, 10};
  binding->run().value();
  EXPECT_THAT(y.values, ElementsAre(1, -1, 2, 21));
}

TEST_P(EveryEngineTest, RunsWithItsWeightsWhereTheyLie) {
  const auto engine = load_engine_in_place(affine(backend()), file("affine"), Trust::kData);
  Row x{{1, 2, 3, 4}};
  Row y{{0, 0, 0, 0}};
  engine->bind(std::array{ConstTensorView(x.view())}, std::array{y.view()})->run().value();
  EXPECT_THAT(y.values, ElementsAre(3, 5, 7, 9));
}

TEST_P(EveryEngineTest, TwoBindingsShareOneModel) {
  const auto engine = load_engine(affine(backend()), file("affine"));
  Row a{{1, 1, 1, 1}};
  Row b{{0, 0, 0, 0}};
  const auto forth = engine->bind(std::array{ConstTensorView(a.view())}, std::array{b.view()});
  const auto back = engine->bind(std::array{ConstTensorView(b.view())}, std::array{a.view()});
  forth->run().value();
  back->run().value();
  EXPECT_THAT(a.values, ElementsAre(7, 7, 7, 7));
}

TEST_P(EveryEngineTest, BuffersCanBeReplaced) {
  const auto engine = load_engine(affine(backend()), file("affine"));
  Row x{{1, 2, 3, 4}};
  Row y{{0, 0, 0, 0}};
  Row other_x{{5, 5, 5, 5}};
  Row other_y{{0, 0, 0, 0}};
  const auto binding = engine->bind(std::array{ConstTensorView(x.view())}, std::array{y.view()});
  binding->rebind_input(0, other_x.view());
  binding->rebind_output(0, other_y.view());
  binding->run().value();
  EXPECT_THAT(y.values, ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(other_y.values, ElementsAre(11, 11, 11, 11));
}

TEST_P(EveryEngineTest, WrongBuffersNameThePort) {
  const auto engine = load_engine(affine(backend()), file("affine"));
  Row x{{1, 2, 3}};
  Row y{{0, 0, 0, 0}};
  EXPECT_THAT(message_of([&] {
                engine->bind(std::array{ConstTensorView(x.view())}, std::array{y.view()});
              }),
              ::testing::AllOf(::testing::HasSubstr("affine/x"), ::testing::EndsWith("[LP608]")));
  EXPECT_THAT(message_of([&] { engine->bind({}, std::array{y.view()}); }),
              ::testing::AllOf(::testing::HasSubstr("affine"), ::testing::EndsWith("[LP608]")));
}

TEST_P(EveryEngineTest, BrokenFileNamesNodeAndFile) {
  const auto path = std::filesystem::temp_directory_path() / ("leapp_broken_" + backend());
  std::ofstream(path) << "this is no model";
  const std::string message = message_of([&] { load_engine(affine(backend()), path); });
  EXPECT_THAT(message, HasSubstr("node 'affine': " + path.string() + " could not be loaded as "));
}

TEST_F(EngineTest, OnnxChecksTheModelsOwnSignature) {
  const auto load = [](const Model& model) {
    return message_of([&] { load_engine(model, model_file("affine.onnx")); });
  };
  Model renamed = affine("onnx");
  renamed.inputs[0].name = "observation";
  EXPECT_THAT(load(renamed), ::testing::AllOf(::testing::HasSubstr("affine/observation"),
                                              ::testing::EndsWith("[LP616]")));
  Model retyped = affine("onnx");
  retyped.outputs[0].dtype = DType::kInt64;
  EXPECT_THAT(load(retyped),
              ::testing::AllOf(::testing::HasSubstr("affine/y"), ::testing::EndsWith("[LP616]")));
  Model reshaped = affine("onnx");
  reshaped.inputs[0].shape = {1, 5};
  EXPECT_THAT(load(reshaped),
              ::testing::AllOf(::testing::HasSubstr("affine/x"), ::testing::EndsWith("[LP616]")));
  Model incomplete = affine("onnx");
  incomplete.inputs.clear();
  EXPECT_THAT(load(incomplete),
              ::testing::AllOf(::testing::HasSubstr("affine"), ::testing::HasSubstr("x"),
                               ::testing::EndsWith("[LP616]")));
}

TEST_F(EngineTest, OnnxOpenDimensionsFitAnySize) {
  Model model = affine("onnx");
  model.inputs[0].shape = model.outputs[0].shape = {1, 4};
  const auto engine = load_engine(model, model_file("affine_open_batch.onnx"));
  Row x{{1, 1, 1, 1}};
  Row y{{0, 0, 0, 0}};
  engine->bind(std::array{ConstTensorView(x.view())}, std::array{y.view()})->run().value();
  EXPECT_THAT(y.values, ElementsAre(3, 3, 3, 3));
}

TEST_F(EngineTest, OnnxResultOfAnotherShapeIsAFailure) {
  Model model;
  model.name = "nonzero";
  model.inputs = {port("x")};
  model.outputs = {Port{.name = "y", .dtype = DType::kInt64, .shape = {2, 4}}};
  model.backend = "onnx";
  const auto engine = load_engine(model, model_file("nonzero.onnx"));
  Row x{{1, 0, 0, 0}};
  std::array<std::int64_t, 8> y{};
  const auto binding = engine->bind(std::array{ConstTensorView(x.view())},
                                    std::array{TensorView{y.data(), DType::kInt64, {2, 4}}});
  const Result<void> result = binding->run();
  ASSERT_FALSE(result);
  EXPECT_THAT(std::string(result.failure().message()), HasSubstr("node 'nonzero' failed: "));
}

TEST_F(EngineTest, OnnxMovesEveryType) {
  for (int i = 0; i <= static_cast<int>(DType::kComplex128); ++i) {
    const DType dtype = static_cast<DType>(i);
    if (is_complex(dtype) || dtype == DType::kFloat32) continue;  // ONNX Runtime has no complex ops
    SCOPED_TRACE(name_of(dtype));
    Model model;
    model.name = "same";
    model.inputs = {Port{.name = "x", .dtype = dtype, .shape = {3}}};
    model.outputs = {Port{.name = "y", .dtype = dtype, .shape = {3}}};
    model.backend = "onnx";
    const auto engine =
        load_engine(model, model_file("same_" + std::string(name_of(dtype)) + ".onnx"));
    const std::array<unsigned char, 24> x{1, 0, 1, 1, 0, 1, 0, 0, 1};
    std::array<unsigned char, 24> y{};
    engine
        ->bind(std::array{ConstTensorView(x.data(), dtype, {3})},
               std::array{TensorView{y.data(), dtype, {3}}})
        ->run()
        .value();
    EXPECT_EQ(std::memcmp(x.data(), y.data(), 3 * size_of(dtype)), 0);
  }
}

TEST_F(EngineTest, OnnxProviderIsChosenFromWhatTheLibraryReports) {
  const std::vector<std::string> cpu = {"CPUExecutionProvider"};
  const std::vector<std::string> gpu = {"TensorrtExecutionProvider", "CUDAExecutionProvider",
                                        "CPUExecutionProvider"};
  EXPECT_EQ(choose_provider("", cpu), "CPUExecutionProvider");
  EXPECT_EQ(choose_provider("", gpu), "CUDAExecutionProvider");
  EXPECT_EQ(choose_provider("cpu", gpu), "CPUExecutionProvider");
  EXPECT_EQ(choose_provider("cuda", gpu), "CUDAExecutionProvider");
  EXPECT_EQ(choose_provider("TensorrtExecutionProvider", gpu), "TensorrtExecutionProvider");
  EXPECT_THAT(message_of([&] { choose_provider("cuda", cpu); }),
              ::testing::AllOf(::testing::HasSubstr("cuda"), ::testing::EndsWith("[LP614]")));
}

TEST_F(EngineTest, OnnxTakesThreadsAndAffinity) {
  EngineOptions options;
  options.threads = 2;
  options.affinity = {0};
  options.spinning = true;
  const auto engine = load_engine(affine("onnx"), model_file("affine.onnx"), options);
  EXPECT_THAT(engine->description(), HasSubstr("ONNX Runtime"));
}

#ifdef LEAPP_TEST_LIBRARIES
TEST_F(EngineTest, TorchScriptReturnsATuple) {
  Model model;
  model.name = "policy";
  model.inputs = {port("x"), port("h")};
  model.outputs = {port("y"), port("h")};
  model.backend = "jit";
  const auto engine = load_engine(model, model_file("recurrent.pt"));
  Row x{{1, 2, 3, 4}};
  Row h{{1, 1, 1, 1}};
  Row y{{0, 0, 0, 0}};
  Row next{{0, 0, 0, 0}};
  engine
      ->bind(std::array{ConstTensorView(x.view()), ConstTensorView(h.view())},
             std::array{y.view(), next.view()})
      ->run()
      .value();
  EXPECT_THAT(y.values, ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(next.values, ElementsAre(1, 1.5, 2, 2.5));
}

TEST_F(EngineTest, TorchScriptReturnsAListOfStridedTensors) {
  Model model = affine("jit");
  model.outputs = {port("twice"), port("square", {2, 2})};
  const auto engine = load_engine(model, model_file("returns_list.pt"));
  Row x{{1, 2, 3, 4}};
  Row twice{{0, 0, 0, 0}};
  std::array<float, 4> square{};
  engine
      ->bind(std::array{ConstTensorView(x.view())},
             std::array{twice.view(), TensorView{square.data(), DType::kFloat32, {2, 2}}})
      ->run()
      .value();
  EXPECT_THAT(twice.values, ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(square, ElementsAre(1, 3, 2, 4));
}

TEST_F(EngineTest, TorchScriptNeverWritesItsInputs) {
  const auto engine = load_engine(affine("jit"), model_file("writes_input.pt"));
  Row x{{1, 2, 3, 4}};
  Row y{{0, 0, 0, 0}};
  const auto binding = engine->bind(std::array{ConstTensorView(x.view())}, std::array{y.view()});
  binding->run().value();
  EXPECT_THAT(x.values, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(y.values, ElementsAre(2, 3, 4, 5));
}

TEST_F(EngineTest, TorchScriptCountsInputsAndOutputs) {
  Model more_inputs = affine("jit");
  more_inputs.inputs.push_back(port("h"));
  EXPECT_THAT(message_of([&] { load_engine(more_inputs, model_file("affine.pt")); }),
              ::testing::AllOf(::testing::HasSubstr("affine"), ::testing::EndsWith("[LP616]")));
  Model more_outputs = affine("jit");
  more_outputs.outputs.push_back(port("h"));
  EXPECT_THAT(message_of([&] { load_engine(more_outputs, model_file("affine.pt")); }),
              ::testing::AllOf(::testing::HasSubstr("affine"), ::testing::EndsWith("[LP616]")));
}

TEST_F(EngineTest, TorchScriptResultOfAnotherShapeIsAFailure) {
  const auto engine = load_engine(affine("jit"), model_file("wrong_shape.pt"));
  Row x{{1, 2, 3, 4}};
  Row y{{0, 0, 0, 0}};
  const Result<void> result =
      engine->bind(std::array{ConstTensorView(x.view())}, std::array{y.view()})->run();
  ASSERT_FALSE(result);
  EXPECT_THAT(result.failure().message(),
              ::testing::AllOf(::testing::HasSubstr("affine/y"), ::testing::EndsWith("[LP616]")));
}

TEST_F(EngineTest, TorchScriptRefusesDevicesThatAreNotThere) {
  EngineOptions options;
  options.provider = "cuda:63";
  EXPECT_THAT(message_of([&] { load_engine(affine("jit"), model_file("affine.pt"), options); }),
              HasSubstr("node 'affine': the TorchScript engine cannot run on 'cuda:63': "));
  options.provider = "abacus";
  EXPECT_THAT(message_of([&] { load_engine(affine("jit"), model_file("affine.pt"), options); }),
              HasSubstr("cannot run on 'abacus': libtorch knows no such device"));
}

TEST_F(EngineTest, TorchScriptErrorNamesTheNode) {
  const auto engine = load_engine(affine("jit"), model_file("raises.pt"));
  Row x{{1, 2, 3, 4}};
  Row y{{0, 0, 0, 0}};
  const Result<void> result =
      engine->bind(std::array{ConstTensorView(x.view())}, std::array{y.view()})->run();
  ASSERT_FALSE(result);
  EXPECT_THAT(std::string(result.failure().message()), HasSubstr("node 'affine' failed: "));
  EXPECT_THAT(std::string(result.failure().message()), HasSubstr("mat1 and mat2"));
}
#endif

}  // namespace
}  // namespace leapp
