#include "onnx/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "base/hash.h"
#include "leapp/error.h"
#include "onnx/reader.h"
#include "sample_model.h"

namespace leapp::onnx {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class Writer : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              ("leapp_writer_" +
               std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static Model model_with_weights() {
    Model model = testing::sample_model();
    std::vector<float> large(1000);
    for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<float>(i);
    model.graph.initializers.push_back(testing::float_tensor("large", large));
    model.graph.initializers.push_back(testing::float_tensor("other", large));
    return model;
  }

  fs::path folder_;
  std::string text_;
};

TEST_F(Writer, FileAndStringAreTheSame) {
  const Model model = model_with_weights();
  const auto files = write_model(model, folder_ / "m.onnx");
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].path, "m.onnx");
  EXPECT_EQ(fs::file_size(folder_ / "m.onnx"), serialize(model).size());
  EXPECT_EQ(serialize(read_model(folder_ / "m.onnx")), serialize(model));
}

TEST_F(Writer, StatesTheChecksumsOfWhatItWrote) {
  Model model = model_with_weights();
  const auto check = [&](const WriteOptions& options) {
    for (const FileEntry& file : write_model(model, folder_ / "m.onnx", options)) {
      const Checksums sums = hash_file(folder_ / file.path);
      EXPECT_EQ(file.sha256sum, sums.sha256) << file.path;
      EXPECT_EQ(file.md5sum, file.path == "m.onnx" ? sums.md5 : "") << file.path;
    }
  };
  check({});
  check({.external_data = true});
  model.graph.initializers.push_back(  // large enough to be hashed in a second thread
      testing::float_tensor("larger", std::vector<float>(kWorthAThread / sizeof(float), 1.5F)));
  check({});
}

// An engine can use weights in a mapped file only if they are aligned.
TEST_F(Writer, WeightsInTheModelAreAligned) {
  Model model = model_with_weights();
  model.graph.initializers.back().doc_string = "says something, which stays";
  const auto offsets = [&] {
    const Bytes whole = Bytes::borrowed(std::as_bytes(std::span(text_ = serialize(model))));
    std::vector<std::ptrdiff_t> found;
    for (const Tensor& tensor : parse_model(whole, "m").graph.initializers) {
      if (tensor.raw.size >= 1024) found.push_back(tensor.raw.data.get() - whole.data.get());
    }
    return found;
  };
  for (std::size_t i = 0; i < 130; ++i) {
    EXPECT_EQ(offsets().at(0) % 64, 0) << i;
    model.graph.name += 'x';
  }
  const Model read = parse_model(Bytes::borrowed(std::as_bytes(std::span(text_))), "m");
  EXPECT_EQ(read.graph.initializers.back().doc_string, "says something, which stays");
  EXPECT_EQ(serialize(read), text_);
}

TEST_F(Writer, MovesWeightsOutOnRequestAndBack) {
  const Model model = model_with_weights();
  const auto files = write_model(model, folder_ / "m.onnx", {.external_data = true});
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[1].path, "m.onnx.data");
  Model read = read_model(folder_ / "m.onnx");
  const Tensor& other = read.graph.initializers.at(2);
  ASSERT_TRUE(other.external.has_value());
  EXPECT_EQ(other.external->location, "m.onnx.data");
  EXPECT_EQ(other.external->offset % 64, 0U);
  EXPECT_EQ(other.external->length, 4000U);
  EXPECT_FALSE(read.graph.initializers.at(0).external.has_value()) << "small ones stay";
  load_external_data(read, folder_);
  EXPECT_EQ(serialize(read), serialize(model));
}

TEST_F(Writer, MovesWeightsOutAboveTheLimit) {
  EXPECT_EQ(
      write_model(model_with_weights(), folder_ / "m.onnx", {.max_inline_bytes = 7999}).size(), 2U);
  EXPECT_EQ(
      write_model(model_with_weights(), folder_ / "n.onnx", {.max_inline_bytes = 8008}).size(), 1U);
}

TEST_F(Writer, ExternalDataMayNotLeaveTheFolderNorEndEarly) {
  Model model = model_with_weights();
  Tensor& weight = model.graph.initializers.at(1);
  const auto error = [&] {
    try {
      load_external_data(model, folder_);
    } catch (const Error& caught) {
      return std::string(caught.what());
    }
    return std::string();
  };
  weight.external = ExternalData{"../secret", 0, 4000};
  EXPECT_THAT(error(), HasSubstr("outside the model's directory (../secret)"));
  weight.external = ExternalData{"/etc/passwd", 0, 4000};
  EXPECT_THAT(error(), HasSubstr("outside the model's directory"));
  write_model(model_with_weights(), folder_ / "m.onnx", {.external_data = true});
  weight.external = ExternalData{"m.onnx.data", 8000, 4000};
  EXPECT_THAT(error(), HasSubstr("the weight 'large' ends beyond the end of"));
}

TEST_F(Writer, NamesAFolderThatIsNotThere) {
  try {
    write_model(testing::sample_model(), folder_ / "missing" / "m.onnx");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kIo);
    EXPECT_THAT(error.what(), HasSubstr("missing/m.onnx: check that the directory exists"));
  }
}

}  // namespace
}  // namespace leapp::onnx
