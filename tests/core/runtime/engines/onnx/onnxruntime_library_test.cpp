#include "runtime/engines/onnx/onnxruntime_library.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>

#include "../../support.h"
#include "runtime/engines/onnx/provider.h"

namespace leapp {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// Exits with 0 if ONNX Runtime is not found and the message contains `expected`.
[[noreturn]] void expect_not_found(const std::string& expected) {
  try {
    OnnxRuntime::get();
  } catch (const Error& error) {
    const bool right =
        error.code() == Code::kNoEngine && error.text().find(expected) != std::string::npos;
    std::fputs(error.text().c_str(), stderr);
    std::_Exit(right ? 0 : 2);
  }
  std::_Exit(1);
}

// Each runs in a separate process, because the library is opened once per process.
class OnnxRuntimeDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(OnnxRuntimeDeathTest, APathThatDoesNotExistIsNamedAndNothingElseIsTried) {
  EXPECT_EXIT(
      {
        setenv("LEAPP_ONNXRUNTIME", "/nowhere/libonnxruntime.so", 1);
        expect_not_found("/nowhere/libonnxruntime.so");
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(OnnxRuntimeDeathTest, AFolderWithoutTheLibraryIsNamed) {
  EXPECT_EXIT(
      {
        setenv("LEAPP_ONNXRUNTIME", "/proc", 1);
        expect_not_found("/proc/libonnxruntime.so");
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(OnnxRuntimeDeathTest, AnotherLibraryIsRefused) {
  EXPECT_EXIT(
      {
        setenv("LEAPP_ONNXRUNTIME", "libm.so.6", 1);
        expect_not_found("libm.so.6: exports no OrtGetApiBase");
      },
      ::testing::ExitedWithCode(0), "");
}

class OnnxRuntimeLibraryTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { testing::find_libraries(); }
};

TEST_F(OnnxRuntimeLibraryTest, IsOnePerProcess) {
  const OnnxRuntime& ort = OnnxRuntime::get();
  EXPECT_EQ(&ort, &OnnxRuntime::get());
  EXPECT_THAT(ort.version(), HasSubstr("."));
  EXPECT_THAT(ort.providers(), Contains(kCpuProvider));
  EXPECT_NE(ort.env(), nullptr);
}

TEST_F(OnnxRuntimeLibraryTest, AStatusBecomesAnError) {
  const OnnxRuntime& ort = OnnxRuntime::get();
  EXPECT_NO_THROW(ort.check(nullptr, "nothing"));
  try {
    ort.check(ort.api().CreateStatus(ORT_FAIL, "the reason"), "node 'pi'", Code::kTickFailed);
    FAIL() << "the status passed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kTickFailed);
    EXPECT_EQ(error.text(), "node 'pi': the reason");
  }
}

}  // namespace
}  // namespace leapp
