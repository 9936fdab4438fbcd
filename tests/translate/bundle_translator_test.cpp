// The changes of `leapp translate` to a bundle of another exporter.
#include "merge/bundle_translator.h"

#include <gmock/gmock.h>

#include "leapp/error.h"
#include "leapp/inference_manager.h"
#include "support.h"
#include "translate/archive.h"

namespace leapp::translate {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using testing::ForeignBundle;
using ::testing::Optional;

BundleTranslation update(const std::filesystem::path& yaml) {
  return leapp_bundle_translator()->translate(yaml, {});
}

// Two nodes that ONNX can express, before one that it cannot.
class BundleTranslatorTest : public ::testing::Test {
 protected:
  BundleTranslatorTest() {
    made_.add("pre", testing::kDouble, {"x"}, {"y"});
    made_.add("policy", "def forward(self, x, h):\n    return torch.tanh(x + h), x\n", {"x", "h"},
              {"y", "h"});
    made_.add("loop", testing::kLoop, {"x"}, {"y"});
    Pipeline& pipeline = made_.bundle().pipeline;
    pipeline.data_flow = {{{"pre", "y"}, {{"policy", "x"}}}, {{"policy", "y"}, {{"loop", "x"}}}};
    pipeline.feedback_flow = {{{"policy", "h"}, {{"policy", "h"}}}};
    pipeline.inputs = {{"pre", {"x"}}};
    pipeline.outputs = {{"loop", {"y"}}};
    made_.write();
  }

  // Returns the results of two ticks.
  std::vector<TensorMap> results() const {
    InferenceManager manager(made_.yaml());
    std::vector<TensorMap> found;
    for (const float value : {0.25F, -1.5F}) {
      found.push_back(manager.run_policy({{"pre/x", ForeignBundle::filled(value)}}));
    }
    return found;
  }

  ForeignBundle made_;
};

TEST_F(BundleTranslatorTest, AddsWhatRepeatsTheBundle) {
  const std::vector<TensorMap> before = results();
  const BundleTranslation done = update(made_.yaml());
  EXPECT_TRUE(done.changed);
  ASSERT_EQ(done.nodes.size(), 3U);
  EXPECT_EQ(done.nodes[0].left_out, "");
  EXPECT_EQ(done.nodes[1].left_out, "");
  EXPECT_THAT(done.nodes[2].left_out, EndsWith("[LP623]"));
  EXPECT_THAT(done.merged, Optional(ElementsAre(ElementsAre("pre", "policy"))));
  EXPECT_TRUE(has_translation(made_.file("pre")));
  EXPECT_FALSE(has_translation(made_.file("loop")));
  EXPECT_EQ(read_bundle(made_.yaml()).pipeline.merged, done.merged);
  const std::vector<TensorMap> after = results();
  for (std::size_t tick = 0; tick < before.size(); ++tick) {
    EXPECT_TRUE(
        compare(before[tick].at("loop/y").view(), after[tick].at("loop/y").view()).passed());
  }
}

TEST_F(BundleTranslatorTest, ASecondTimeAddsNothing) {
  update(made_.yaml());
  const BundleTranslation done = update(made_.yaml());
  EXPECT_FALSE(done.changed);
  ASSERT_EQ(done.nodes.size(), 1U);
  EXPECT_EQ(done.nodes[0].node, "loop");
}

TEST_F(BundleTranslatorTest, ANodeThatDrawsRandomNumbersIsLeftOut) {
  made_.add("noisy", "def forward(self, x):\n    return x + torch.rand([1, 4])\n", {"x"}, {"y"});
  made_.bundle().pipeline.inputs.push_back({"noisy", {"x"}});
  made_.bundle().pipeline.outputs.push_back({"noisy", {"y"}});
  made_.write();
  const BundleTranslation done = update(made_.yaml());
  EXPECT_NE(done.nodes[3].left_out, "");
  EXPECT_FALSE(has_translation(made_.file("noisy")));
}

TEST_F(BundleTranslatorTest, ABundleThatFailsInEveryTickStaysUnchanged) {
  made_.add("bad", "def forward(self, x):\n    assert False, \"no\"\n    return x\n", {"x"}, {"y"});
  made_.bundle().pipeline.inputs.push_back({"bad", {"x"}});
  made_.bundle().pipeline.outputs.push_back({"bad", {"y"}});
  made_.write();
  EXPECT_THAT(leapp::testing::message_of([&] { update(made_.yaml()); }), EndsWith("[LP623]"));
  EXPECT_FALSE(has_translation(made_.file("pre")));
}

TEST_F(BundleTranslatorTest, AModelThatChangedIsAnError) {
  std::filesystem::copy_file(made_.file("pre"), made_.file("loop"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THROW(update(made_.yaml()), Error);
  EXPECT_FALSE(has_translation(made_.file("pre")));
}

}  // namespace
}  // namespace leapp::translate
