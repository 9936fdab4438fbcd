// TorchScript files that get a translation.
#include "translate/archive.h"

#include <ATen/ATen.h>
#include <caffe2/serialize/inline_container.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>
#include <unistd.h>

#include <map>

#include "leapp/error.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "runtime/engines/translation.h"

namespace leapp::translate {
namespace {

class ArchiveTest : public ::testing::Test {
 protected:
  ArchiveTest() {
    torch::jit::Module module("n");
    module.register_buffer("weight", weight_);
    module.define("def forward(self, x):\n    return x * self.weight\n");
    module.save(file_.string());
  }
  ~ArchiveTest() override { std::filesystem::remove(file_); }

  // A model with two weights of 256 bytes, of which the file has the first.
  std::string onnx() const {
    onnx::Model model;
    model.ir_version = 9;
    for (const at::Tensor& tensor : {weight_, weight_ + 1}) {
      onnx::Tensor& weight = model.graph.initializers.emplace_back();
      weight.type = onnx::ElementType::kFloat;
      weight.dims = {64};
      weight.raw = onnx::Bytes::copy_of(tensor.const_data_ptr(), tensor.nbytes());
    }
    return onnx::serialize(model);
  }

  std::map<std::string, std::string> records() const {
    std::map<std::string, std::string> found;
    caffe2::serialize::PyTorchStreamReader reader(file_.string());
    for (const std::string& name : reader.getAllRecords()) {
      const auto [data, size] = reader.getRecord(name);
      found[name] = std::string(static_cast<const char*>(data.get()), size);
    }
    return found;
  }

  const at::Tensor weight_ = at::randn({64});
  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("leapp_archive_" + std::to_string(getpid()));
};

TEST_F(ArchiveTest, KeepsAllOtherRecordsAndTheModel) {
  std::map<std::string, std::string> before = records();
  add_translation(file_, onnx());
  std::map<std::string, std::string> after = records();
  EXPECT_TRUE(after.contains(kTranslationRecord));
  after.erase(kTranslationRecord);
  for (auto* each : {&before, &after}) each->erase(caffe2::serialize::kSerializationIdRecordName);
  EXPECT_EQ(after, before);
  torch::jit::Module module = torch::jit::load(file_.string());
  EXPECT_TRUE(at::equal(module.forward({at::full({64}, 2)}).toTensor(), weight_ * 2));
}

TEST_F(ArchiveTest, StoresNoWeightTwice) {
  add_translation(file_, onnx());
  const std::string stored = records().at(kTranslationRecord);
  const onnx::Model model =
      onnx::parse_model(onnx::Bytes::borrowed(std::as_bytes(std::span(stored))), "stored");
  ASSERT_EQ(model.graph.initializers.size(), 2U);
  ASSERT_TRUE(model.graph.initializers[0].external.has_value());
  EXPECT_EQ(model.graph.initializers[0].external->location, "data/0");
  EXPECT_FALSE(model.graph.initializers[1].external.has_value());
}

TEST_F(ArchiveTest, ASecondTranslationReplacesTheFirst) {
  add_translation(file_, onnx());
  const std::map<std::string, std::string> once = records();
  add_translation(file_, onnx());
  EXPECT_EQ(records(), once);
}

TEST_F(ArchiveTest, AFileThatCannotBeWrittenIsAnError) {
  const std::filesystem::path blocked = file_.string() + ".translated";
  std::filesystem::create_directory(blocked);
  try {
    add_translation(file_, onnx());
    ADD_FAILURE() << "it was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kIo);
  }
  std::filesystem::remove(blocked);
  EXPECT_FALSE(records().contains(kTranslationRecord));
}

}  // namespace
}  // namespace leapp::translate
