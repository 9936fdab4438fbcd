// Which TorchScript files become ONNX models, and that these compute the same.
#include "translate/translation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>
#include <unistd.h>

#include <fstream>

#include "../core/runtime/support.h"
#include "leapp/error.h"

namespace leapp::translate {
namespace {

using leapp::testing::port;

Model node(std::vector<Port> inputs, std::vector<Port> outputs) {
  Model made;
  made.name = "n";
  made.inputs = std::move(inputs);
  made.outputs = std::move(outputs);
  return made;
}

class TranslationTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { leapp::testing::find_libraries(); }
  ~TranslationTest() override { std::filesystem::remove(file_); }

  Translation translate_source(const std::string& source, const Model& signature,
                               const std::vector<at::Tensor>& examples) {
    torch::jit::Module module("n");
    module.register_buffer("weight", at::full({2, 3}, 2));
    module.define(source);
    module.save(file_.string());
    return translate(signature, file_, examples);
  }

  std::optional<Code> refusal(const std::string& source) {
    try {
      translate_source(source, one_, {at::ones({2, 3})});
    } catch (const Error& error) {
      return error.code();
    }
    return std::nullopt;
  }

  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("leapp_translate_" + std::to_string(getpid()));
  const Model one_ = node({port("x", {2, 3})}, {port("y", {2, 3})});
};

TEST_F(TranslationTest, GivesWhatTorchScriptGives) {
  const Model both = node({port("x", {2, 3}), port("h", {2, 3})},
                          {port("h", {2, 3}), {"best", DType::kInt64, {2}, {}}});
  const at::Tensor x = at::randn({2, 3});
  const at::Tensor h = at::randn({2, 3});
  const Translation made = translate_source(R"(
def forward(self, x, h):
    next = torch.tanh(x * self.weight + h)
    return next, torch.argmax(next, 1)
)",
                                            both, {x, h});
  at::Tensor next = at::empty({2, 3});
  at::Tensor best = at::empty({2}, at::kLong);
  const ConstTensorView inputs[] = {{x.const_data_ptr(), DType::kFloat32, {2, 3}},
                                    {h.const_data_ptr(), DType::kFloat32, {2, 3}}};
  const TensorView outputs[] = {{next.data_ptr(), DType::kFloat32, {2, 3}},
                                {best.data_ptr(), DType::kInt64, {2}}};
  made.engine->bind(inputs, outputs)->run().value();
  const at::Tensor expected = (x * 2 + h).tanh();
  EXPECT_TRUE(at::allclose(next, expected, 1e-6, 1e-6));
  EXPECT_TRUE(at::equal(best, expected.argmax(1)));
}

TEST_F(TranslationTest, RefusesALargeFileBeforeItIsRead) {
  std::ofstream(file_).put('x');
  std::filesystem::resize_file(file_, kMaxTranslatedBytes + 1);
  try {
    translate(one_, file_, {at::ones({2, 3})});
    ADD_FAILURE() << "it was translated";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNotTranslated);
  }
}

TEST_F(TranslationTest, RefusesWhatOnnxCannotExpress) {
  EXPECT_EQ(refusal("def forward(self, x):\n    return x.add_(1.0)\n"), Code::kNotTranslated)
      << "it writes to its input";
  EXPECT_EQ(
      refusal("def forward(self, x):\n    if bool(x.sum() > 0):\n        x = -x\n    return x\n"),
      Code::kNotTranslated)
      << "it branches";
  EXPECT_EQ(refusal("def forward(self, x, y):\n    return x + y\n"), Code::kNotTranslated)
      << "it has another input";
  EXPECT_EQ(refusal("def forward(self, x):\n    return torch.mm(x, x)\n"), Code::kNotTranslated)
      << "it does not run";
  EXPECT_EQ(refusal("def forward(self, x):\n    return x[:, :2]\n"), Code::kModelMismatch)
      << "it returns another shape than is declared";
  EXPECT_EQ(refusal("def forward(self, x):\n    return torch.complex(x, x)\n"), Code::kComplexPort)
      << "ONNX Runtime has no complex numbers";
}

}  // namespace
}  // namespace leapp::translate
