// Passes that output results of an earlier one.
#include "tracing.h"

namespace leapp {
namespace {

using at::Tensor;
using testing::code_of;

class PlayedPassesTest : public testing::Tracing {
 protected:
  void SetUp() override {
    Tracing::SetUp();
    begin();
  }

  // Runs a pass that computes a chunk of two elements, and returns them.
  static std::vector<Tensor> compute() {
    const Tensor x = in("n", at::ones({2}));
    std::vector<Tensor> elements = at::stack({x * 2, x * 3}).unbind(0);
    out("n", elements[0]);
    return elements;
  }
  static void play(const Tensor& element) {
    in("n", at::zeros({2}));
    out("n", element);
  }
};

TEST_F(PlayedPassesTest, KnowTheResultOfTheirSource) {
  const std::vector<Tensor> elements = compute();
  play(elements[1]);
  ASSERT_EQ(node().passes.size(), 1U);
  ASSERT_EQ(node().played.size(), 1U);
  const session::PlayedPass& played = node().played[0];
  EXPECT_EQ(played.number, 1);
  EXPECT_EQ(played.source, 0U);
  EXPECT_TRUE(played.recording.calls.empty());
  EXPECT_EQ(played.taken.size(), 1U);
  EXPECT_TRUE(at::equal(played.outputs[0], at::full({2}, 3.0)));
  EXPECT_EQ(node().completed, 2);
}

TEST_F(PlayedPassesTest, MaySelectAnElementThemselves) {
  const Tensor x = in("n", at::ones({2}));
  const Tensor chunk = at::stack({x * 2, x * 3});
  out("n", chunk.select(0, 0));
  in("n", at::zeros({2}));
  out("n", chunk.select(0, 1).tanh());
  ASSERT_EQ(node().played.size(), 1U);
  EXPECT_EQ(node().played[0].recording.calls.size(), 2U);
}

TEST_F(PlayedPassesTest, MustNotComputeFromTheirInputs) {
  Tensor previous = in("n", at::ones({2})) * 2;
  out("n", previous);
  const Tensor next = in("n", at::ones({2})) * 2;
  // A delay: the result of the former pass. Without an object that keeps it, it is not state.
  EXPECT_EQ(code_of([&] { out("n", previous); }), Code::kNotTraced);
  EXPECT_TRUE(node().played.empty());
}

TEST_F(PlayedPassesTest, MustNotOutputAResultThatWasOverwritten) {
  const std::vector<Tensor> elements = compute();
  elements[1].fill_(7);
  in("n", at::zeros({2}));
  EXPECT_ANY_THROW(out("n", elements[1]));
}

TEST_F(PlayedPassesTest, AreLoggedAsSuch) {
  const std::vector<Tensor> elements = compute();
  play(elements[1]);
  compute();
  std::vector<bool> played;
  for (const session::NodeRun& run : session::Session::instance().runs())
    played.push_back(run.played);
  EXPECT_THAT(played, ::testing::ElementsAre(false, true, false));
}

TEST_F(PlayedPassesTest, DoNotCountAsPassesThatAreKept) {
  for (int chunk = 0; chunk < 12; ++chunk) play(compute()[1]);
  EXPECT_EQ(node().passes.size(), 6U);  // max_cached_io = 5, and the first
  EXPECT_EQ(node().played.size(), 6U);
  EXPECT_EQ(node().completed, 24);
}

}  // namespace
}  // namespace leapp
