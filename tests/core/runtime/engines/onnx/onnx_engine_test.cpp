// The use of a model's file and options. engine_test.cpp has the tests that hold for every engine.
#include "runtime/engines/onnx/onnx_engine.h"

#include <gmock/gmock.h>

#include "../../../onnx/sample_model.h"
#include "../../support.h"
#include "leapp/error.h"
#include "onnx/writer.h"

namespace leapp {
namespace {

using ::testing::ElementsAre;
using namespace leapp::testing;

class OnnxEngineTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { find_libraries(); }

  // y = x + w, with w in the file "w.bin".
  static std::string model_with_external_weights() {
    onnx::Node node;
    node.op_type = "Add";
    node.inputs = {"x", "w"};
    node.outputs = {"y"};
    onnx::Tensor weights;
    weights.name = "w";
    weights.type = onnx::ElementType::kFloat;
    weights.dims = {1, 4};
    weights.external = onnx::ExternalData{"./w.bin", 0, 16};
    onnx::Model model;
    model.ir_version = 9;
    model.opsets = {{"", 20}};
    model.graph.name = "sum";
    model.graph.nodes = {node};
    model.graph.initializers = {weights};
    model.graph.inputs = {onnx::testing::info("x", {std::int64_t{1}, std::int64_t{4}})};
    model.graph.outputs = {onnx::testing::info("y", {std::int64_t{1}, std::int64_t{4}})};
    return onnx::serialize(model);
  }

  static Model sum() {
    Model model;
    model.name = "sum";
    model.inputs = {port("x")};
    model.outputs = {port("y")};
    model.backend = "onnx";
    return model;
  }

  static Code code_of(const ModelFile& file, const EngineOptions& options = {}) {
    try {
      load_onnx_engine(sum(), file, options);
    } catch (const Error& error) {
      return error.code();
    }
    ADD_FAILURE() << "no error was thrown";
    return Code::kInternal;
  }
};

TEST_F(OnnxEngineTest, ReadsWeightsOnlyFromFilesThatTheBundleLists) {
  const std::string text = model_with_external_weights();
  ModelFile file{.path = "sum.onnx", .bytes = std::as_bytes(std::span(text))};
  EXPECT_EQ(code_of(file), rule(21));
  const std::array<float, 4> weights = {10, 20, 30, 40};
  file.external_data = {{"other.bin", std::as_bytes(std::span(weights))}};
  EXPECT_EQ(code_of(file), rule(21));
  file.external_data = {{"w.bin", std::as_bytes(std::span(weights))}};
  const std::unique_ptr<Engine> engine = load_onnx_engine(sum(), file, {});
  Row x{{1, 2, 3, 4}};
  Row y{{0, 0, 0, 0}};
  engine->bind(std::array{ConstTensorView(x.view())}, std::array{y.view()})->run().value();
  EXPECT_THAT(y.values, ElementsAre(11, 22, 33, 44));
}

TEST_F(OnnxEngineTest, AListedFileThatIsTooShortIsRefused) {
  const std::string text = model_with_external_weights();
  const std::array<float, 3> weights = {10, 20, 30};
  EXPECT_EQ(code_of({.path = "sum.onnx",
                     .bytes = std::as_bytes(std::span(text)),
                     .external_data = {{"w.bin", std::as_bytes(std::span(weights))}}}),
            Code::kBadModel);
}

TEST_F(OnnxEngineTest, AProviderThatIsNotThereIsAnError) {
  const std::string text = model_with_external_weights();
  EXPECT_EQ(
      code_of({.path = "sum.onnx", .bytes = std::as_bytes(std::span(text))}, {.provider = "rocm"}),
      Code::kNoProvider);
}

TEST_F(OnnxEngineTest, RunsInThreadsOfTheCallersChoice) {
  const std::string text = model_with_external_weights();
  const std::array<float, 4> weights = {10, 20, 30, 40};
  const std::unique_ptr<Engine> engine =
      load_onnx_engine(sum(),
                       {.path = "sum.onnx",
                        .bytes = std::as_bytes(std::span(text)),
                        .external_data = {{"w.bin", std::as_bytes(std::span(weights))}}},
                       {.threads = 2, .affinity = {0}, .spinning = true});
  Row x{{1, 1, 1, 1}};
  Row y{{0, 0, 0, 0}};
  engine->bind(std::array{ConstTensorView(x.view())}, std::array{y.view()})->run().value();
  EXPECT_THAT(y.values, ElementsAre(11, 21, 31, 41));
}

}  // namespace
}  // namespace leapp
