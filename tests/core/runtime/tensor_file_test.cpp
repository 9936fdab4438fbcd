#include "leapp/tensor_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_folder.h"
#include "leapp/error.h"

namespace leapp {
namespace {

TEST(TensorFileTest, ReadsWhatItWrote) {
  const TemporaryFolder folder;
  TensorMap tensors;
  tensors.emplace("policy/h", Tensor({1, 2}, std::initializer_list<float>{1, -2}));
  tensors.emplace("policy/count", Tensor(DType::kInt64, {}));
  write_tensors(folder.path() / "state.safetensors", tensors);
  EXPECT_EQ(read_tensors(folder.path() / "state.safetensors"), tensors);
}

TEST(TensorFileTest, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const auto code_of = [](const std::filesystem::path& file) {
    try {
      read_tensors(file);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::kInternal;
  };
  EXPECT_EQ(code_of(folder.path() / "nowhere.safetensors"), ErrorKind::kNotFound);
  std::ofstream(folder.path() / "short.safetensors") << "x";
  EXPECT_EQ(code_of(folder.path() / "short.safetensors"), ErrorKind::kValue);
}

TEST(TensorFileTest, RefusesATypeThatTheFormatLacks) {
  const TemporaryFolder folder;
  TensorMap tensors;
  tensors.emplace("z", Tensor(DType::kComplex128, {1}));
  EXPECT_THROW(write_tensors(folder.path() / "z.safetensors", tensors), Error);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "z.safetensors"));
}

}  // namespace
}  // namespace leapp
