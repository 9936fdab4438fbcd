#include "runtime/engines/cpp/cpp_engine.h"

#include <gmock/gmock.h>

#include <array>

#include "base/temporary_folder.h"
#include "doubling_source.h"
#include "leapp/error.h"

namespace leapp {
namespace {

using test::compile_doubling;
using test::doubling_model;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CppEngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (find_compiler().empty()) GTEST_SKIP() << "there is no compiler";
    library_ = compile_doubling(folder_.path());
  }
  std::string fault(const Model& model, std::size_t weights = 16) const {
    try {
      load_cpp_library(model, library_, std::as_bytes(std::span(weights_)).first(weights));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kModelMismatch);
      return error.text();
    }
    return {};
  }

  TemporaryFolder folder_;
  std::filesystem::path library_;
  std::array<float, 4> weights_{2, 3, 4, 5};
};

TEST_F(CppEngineTest, ComputesWithItsWeights) {
  const auto engine =
      load_cpp_library(doubling_model(), library_, std::as_bytes(std::span(weights_)));
  EXPECT_EQ(engine->description(), "C++, compiled, CPU");
  std::array<float, 4> x{1, 1, 1, 1};
  std::array<float, 4> y{};
  const TensorView in{x.data(), DType::kFloat32, {1, 4}};
  const TensorView out{y.data(), DType::kFloat32, {1, 4}};
  const auto binding = engine->bind(std::array<ConstTensorView, 1>{in}, std::array{out});
  weights_.fill(0);  // the engine has copied them
  ASSERT_TRUE(binding->run());
  EXPECT_THAT(y, ElementsAre(2, 3, 4, 5));
  std::array<float, 4> other{2, 2, 2, 2};
  std::array<float, 4> there{};
  binding->rebind_input(0, TensorView{other.data(), DType::kFloat32, {1, 4}});
  binding->rebind_output(0, TensorView{there.data(), DType::kFloat32, {1, 4}});
  ASSERT_TRUE(binding->run());
  EXPECT_THAT(there, ElementsAre(4, 6, 8, 10));
  EXPECT_THAT(y, ElementsAre(2, 3, 4, 5));
}

TEST_F(CppEngineTest, AFailedRunSaysWhy) {
  const auto engine =
      load_cpp_library(doubling_model(), library_, std::as_bytes(std::span(weights_)));
  std::array<float, 4> x{13, 1, 1, 1};
  std::array<float, 4> y{};
  const TensorView in{x.data(), DType::kFloat32, {1, 4}};
  const TensorView out{y.data(), DType::kFloat32, {1, 4}};
  const auto binding = engine->bind(std::array<ConstTensorView, 1>{in}, std::array{out});
  const Result<void> result = binding->run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().code(), Code::kTickFailed);
  EXPECT_EQ(result.failure().text(), "node 'policy': x is unlucky");
}

TEST_F(CppEngineTest, TheTableMustBeThatOfTheNode) {
  Model renamed = doubling_model();
  renamed.inputs[0].name = "obs";
  EXPECT_THAT(fault(renamed), HasSubstr("input 0 of the compiled model is 'x', float32 [1, 4]; the "
                                        "bundle says 'obs', float32 [1, 4]"));
  Model reshaped = doubling_model();
  reshaped.outputs[0].shape = {1, 5};
  EXPECT_THAT(fault(reshaped), HasSubstr("the bundle says 'y', float32 [1, 5]"));
  Model fewer = doubling_model();
  fewer.outputs.clear();
  EXPECT_THAT(fault(fewer), HasSubstr("has 1 outputs, and the bundle says 0"));
  EXPECT_THAT(fault(doubling_model(), 12),
              HasSubstr("takes 16 bytes of weights, but the bundle has 12"));
  Model other = doubling_model();
  other.name = "critic";
  EXPECT_THAT(fault(other), HasSubstr("has no 'leapp_cpp_critic'"));
}

TEST_F(CppEngineTest, AnotherAbiIsRefused) {
  const TemporaryFolder folder;
  library_ = compile_doubling(folder.path(), 2);
  EXPECT_THAT(fault(doubling_model()), HasSubstr("ABI 2"));
}

}  // namespace
}  // namespace leapp
