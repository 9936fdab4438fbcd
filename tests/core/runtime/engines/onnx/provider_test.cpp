#include "runtime/engines/onnx/provider.h"

#include <gtest/gtest.h>

#include "leapp/error.h"

namespace leapp {
namespace {

const std::vector<std::string> kCpuOnly = {"CPUExecutionProvider"};
const std::vector<std::string> kWithGpu = {"TensorrtExecutionProvider", "CUDAExecutionProvider",
                                           "CPUExecutionProvider"};

TEST(ProviderTest, WithoutARequestCudaComesFirst) {
  EXPECT_EQ(choose_provider("", kCpuOnly), "CPUExecutionProvider");
  EXPECT_EQ(choose_provider("", kWithGpu), "CUDAExecutionProvider");
  EXPECT_EQ(choose_provider("", {}), "CPUExecutionProvider");
}

TEST(ProviderTest, ShortNamesOfAnyCaseMeanTheProvider) {
  EXPECT_EQ(choose_provider("cpu", kWithGpu), "CPUExecutionProvider");
  EXPECT_EQ(choose_provider("CUDA", kWithGpu), "CUDAExecutionProvider");
  EXPECT_EQ(choose_provider("tensorrt", kWithGpu), "TensorrtExecutionProvider");
  EXPECT_EQ(choose_provider("TensorrtExecutionProvider", kWithGpu), "TensorrtExecutionProvider");
}

TEST(ProviderTest, AProviderThatIsNotThereIsRefusedWithThoseThatAre) {
  try {
    choose_provider("rocm", kWithGpu);
    FAIL() << "there is no such provider";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNoProvider);
    for (const std::string& provider : kWithGpu) {
      EXPECT_NE(error.text().find(provider), std::string::npos) << provider;
    }
  }
}

}  // namespace
}  // namespace leapp
