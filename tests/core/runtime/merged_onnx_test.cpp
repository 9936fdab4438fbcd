// Several ONNX nodes that run as one session.
#include "runtime/merged_onnx.h"

#include <gmock/gmock.h>

#include "base/log.h"
#include "leapp/inference_manager.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using namespace leapp::testing;

class MergedOnnxTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { find_libraries(); }
  TestBundle test;
};

TEST_F(MergedOnnxTest, MergedGraphGivesTheSame) {
  add_policy(test);
  const auto yaml = test.write();
  InferenceManager merged(yaml);
  InferenceManager separate(yaml, {.merge = Merge::kOff});
  ASSERT_THAT(merged.description(), SizeIs(1));
  EXPECT_THAT(merged.description()[0], HasSubstr("pre+policy+post: ONNX Runtime"));
  for (int tick = 0; tick < 20; ++tick) {
    const float obs = std::sin(static_cast<float>(tick)) - 0.5f;
    const TensorMap in = {{"pre/x", row({obs, obs + 1, -obs, 0})}};
    ASSERT_EQ(merged.run_policy(in), separate.run_policy(in));
    ASSERT_EQ(merged.state(), separate.state());
  }
}

TEST_F(MergedOnnxTest, ModelsOfOtherOpsetsRunOneByOneAndTheLogSaysWhy) {
  // The YAML states opset 20 for both, but one file has 17.
  test.node("a", "affine.onnx", {port("x")}, {port("y")})
      .node("b", "affine_opset17.onnx", {port("x")}, {port("y")})
      .wire("a/y", "b/x")
      .input("a/x")
      .output("b/y")
      .merged({"a", "b"});
  std::string logged;
  const LogSink former = set_log_sink(
      [&](LogLevel, std::string_view message) { logged += std::string(message) + "\n"; });
  InferenceManager manager(test.write());
  set_log_sink(former);
  EXPECT_THAT(logged, HasSubstr("nodes a+b run one by one: 'b' uses different operator sets"));
  EXPECT_THAT(manager.description(), SizeIs(2));
  EXPECT_THAT(floats(manager.run_policy({{"a/x", row({0, 1, 2, 3})}}).at("b/y")),
              ElementsAre(3, 7, 11, 15));
}

}  // namespace
}  // namespace leapp
