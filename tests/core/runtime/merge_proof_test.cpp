#include "runtime/merge_proof.h"

#include <gmock/gmock.h>

#include "base/log.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using ::testing::HasSubstr;
using namespace leapp::testing;
using Groups = std::vector<std::vector<std::string>>;

// Returns its input, with the other sign from a limit on.
class Identity final : public Engine {
 public:
  explicit Identity(float limit) : limit_(limit) {}
  std::string description() const override { return "identity"; }
  std::unique_ptr<Binding> bind(std::span<const ConstTensorView> inputs,
                                std::span<const TensorView> outputs) override {
    return std::make_unique<Run>(inputs[0], outputs[0], limit_);
  }

 private:
  class Run final : public Binding {
   public:
    Run(const ConstTensorView& in, const TensorView& out, float limit)
        : in_(in), out_(out), limit_(limit) {}
    void rebind_input(std::size_t, const ConstTensorView& view) override { in_ = view; }
    void rebind_output(std::size_t, const TensorView& view) override { out_ = view; }
    Result<void> run() noexcept override {
      const float value = *static_cast<const float*>(in_.data);
      *static_cast<float*>(out_.data) = value < limit_ ? value : -value;
      return {};
    }

   private:
    ConstTensorView in_;
    TensorView out_;
    float limit_;
  };

  float limit_;
};

class MergeProofTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { find_libraries(); }

  std::optional<Groups> decide(const std::vector<std::size_t>& single = {},
                               std::size_t samples = 3) {
    const LogSink former = set_log_sink(
        [&](LogLevel, std::string_view message) { logged_ += std::string(message) + "\n"; });
    auto merged = decide_merged(test_.bundle(), test_.folder(), {}, single,
                                [&](const auto&) { return mock_samples(test_.bundle(), samples); });
    set_log_sink(former);
    return merged;
  }

  TestBundle test_;
  std::string logged_;
};

TEST_F(MergeProofTest, NodesThatGiveTheSameAreStated) {
  add_policy(test_);
  EXPECT_EQ(decide(), Groups({{"pre", "policy", "post"}}));
  EXPECT_EQ(logged_, "");
}

TEST_F(MergeProofTest, NodesWithoutSamplesStaySingle) {
  add_policy(test_);
  EXPECT_EQ(decide({0}), Groups({{"policy", "post"}}));
  EXPECT_EQ(decide({1}), std::nullopt);
  EXPECT_EQ(decide({}, 0), Groups());
  EXPECT_THAT(logged_, HasSubstr("pre+policy+post"));
}

TEST_F(MergeProofTest, NodesThatCannotBeMergedAreNotStated) {
  // The YAML states opset 20 for both, but one file has 17.
  test_.node("a", "affine.onnx", {port("x")}, {port("y")})
      .node("b", "affine_opset17.onnx", {port("x")}, {port("y")})
      .wire("a/y", "b/x")
      .input("a/x")
      .output("b/y");
  EXPECT_EQ(decide(), Groups());
  EXPECT_THAT(logged_, HasSubstr("a+b"));
}

TEST_F(MergeProofTest, OneSampleThatDiffersIsEnough) {
  for (const char* name : {"a", "b"}) {
    test_.node(name, "affine.onnx", {port("x", {1})}, {port("y", {1})});
  }
  test_.wire("a/y", "b/x").input("a/x").output("b/y");
  RuntimeOptions options;
  options.engines.add(
      "onnx",
      [](const Model&, const ModelFile&, const EngineOptions&) {
        return std::make_unique<Identity>(1e9F);
      },
      [](const Bundle&, const std::vector<LoadedNode>&, const Model&, const EngineOptions&) {
        return std::make_unique<Identity>(2.5F);
      });
  const auto merged_with = [&](std::size_t count) {
    const MergeSamples samples = {count, [](std::size_t sample, const PortRef&) {
                                    return Tensor({1}, {static_cast<float>(sample)});
                                  }};
    return *decide_merged(test_.bundle(), test_.folder(), options, {},
                          [&](const auto&) { return samples; });
  };
  EXPECT_EQ(merged_with(3), Groups({{"a", "b"}}));  // 0, 1, 2
  EXPECT_EQ(merged_with(4), Groups());
}

}  // namespace
}  // namespace leapp
