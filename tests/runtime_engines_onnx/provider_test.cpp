#include "runtime/engines/onnx/provider.h"

#include <gmock/gmock.h>

#include "leapp/error.h"

namespace leapp {
namespace {

const std::vector<std::string> kBoth = {"CUDAExecutionProvider", "CPUExecutionProvider"};
const std::vector<std::string> kCpuOnly = {"CPUExecutionProvider"};

TEST(ProviderTest, WithoutAWishItIsCudaIfThereIsOne) {
  EXPECT_EQ(choose_provider("", kBoth), "CUDAExecutionProvider");
  EXPECT_EQ(choose_provider("", kCpuOnly), "CPUExecutionProvider");
  EXPECT_EQ(choose_provider("", {"ArmNNExecutionProvider", "CPUExecutionProvider"}),
            "CPUExecutionProvider");
}

TEST(ProviderTest, NamesAreShortOrWholeInEitherCase) {
  for (const char* name : {"cuda", "CUDA", "CUDAExecutionProvider", "cudaexecutionprovider"}) {
    EXPECT_EQ(choose_provider(name, kBoth), "CUDAExecutionProvider") << name;
  }
  EXPECT_EQ(choose_provider("cpu", kBoth), "CPUExecutionProvider");
}

TEST(ProviderTest, OneThatIsMissingIsAnErrorThatListsWhatThereIs) {
  try {
    choose_provider("tensorrt", kBoth);
    FAIL() << "a provider was chosen";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNoProvider);
    EXPECT_EQ(error.text(),
              "execution provider 'tensorrt' is not part of this ONNX Runtime, which has: "
              "CUDAExecutionProvider, CPUExecutionProvider");
  }
  EXPECT_THROW(choose_provider("cuda", kCpuOnly), Error);
}

}  // namespace
}  // namespace leapp
