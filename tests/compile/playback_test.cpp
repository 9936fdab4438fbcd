// The two nodes that a node with played passes becomes.
#include "compile/playback.h"

#include "../session/tracing.h"

namespace leapp::compile {
namespace {

using at::Tensor;
using ::testing::ElementsAre;

class PlaybackTest : public leapp::testing::Tracing {
 protected:
  void SetUp() override {
    Tracing::SetUp();
    begin();
  }

  // Runs passes that output the elements of one chunk of `length` rows.
  static void run_turn(int length, const std::string& name = "n") {
    const Tensor chunk =
        in(name, at::randn({2})).unsqueeze(0) * at::arange(1, length + 1).unsqueeze(1);
    std::vector<Tensor> elements = chunk.unbind(0);
    out(name, elements[0]);
    for (int i = 1; i < length; ++i) {
      in(name, at::randn({2}));
      out(name, elements[static_cast<std::size_t>(i)]);
    }
  }

  Playback split() {
    return split_playing_nodes(session::Session::instance().nodes(), session::Session::instance(),
                               captures_);
  }

  trace::CaptureTable captures_;
};

TEST_F(PlaybackTest, LeavesOtherNodesAlone) {
  pass();
  const Playback made = split();
  EXPECT_TRUE(made.made.empty());
  EXPECT_THAT(made.nodes, ElementsAre(&node()));
}

TEST_F(PlaybackTest, OneNodeComputesAndOnePlays) {
  for (int i = 0; i < 2; ++i) run_turn(3);
  const Playback made = split();
  ASSERT_EQ(made.nodes.size(), 2U);
  const Node& computing = *made.nodes[0];
  const Node& playing = *made.nodes[1];
  EXPECT_EQ(computing.name, "n");
  EXPECT_EQ(computing.inputs.at(0).name, "x");
  EXPECT_EQ(computing.outputs.at(0).name, "y_chunk");
  EXPECT_EQ(computing.outputs.at(0).shape, (Shape{3, 2}));
  EXPECT_EQ(computing.passes.size(), 2U);
  EXPECT_EQ(playing.name, "n_playback");
  EXPECT_EQ(playing.id, node().id);  // its outputs are those that other nodes read
  EXPECT_EQ(playing.outputs.at(0).name, "y");
  EXPECT_EQ(playing.passes.size(), 6U);
  EXPECT_LT(computing.completion, playing.completion);
  EXPECT_THAT(made.schedule,
              ElementsAre(NodeSchedule{.node = "n_playback", .ages = {{"age", "n"}}}));
}

TEST_F(PlaybackTest, ChunksConsistOfTheOutputs) {
  run_turn(3);
  run_turn(3);
  const Playback made = split();
  const session::Pass& computed = made.nodes[0]->passes[1];
  for (std::size_t i = 0; i < 3; ++i) {
    const session::Pass& played = made.nodes[1]->passes[3 + i];
    EXPECT_TRUE(at::equal(played.outputs[0], computed.outputs[0][static_cast<std::int64_t>(i)]));
    EXPECT_TRUE(at::equal(played.inputs[0], computed.outputs[0]));
    EXPECT_EQ(played.inputs[1].item<std::int64_t>(), static_cast<std::int64_t>(i));
  }
}

TEST_F(PlaybackTest, TheRunsAreThoseOfBothNodes) {
  run_turn(2);
  run_turn(2);
  const Playback made = split();
  std::vector<std::pair<std::string, int>> runs;
  for (const session::NodeRun& run : made.runs) {
    runs.emplace_back(session::find_node(made.nodes, run.node)->name, run.pass);
  }
  using Run = std::pair<std::string, int>;
  EXPECT_THAT(runs, ElementsAre(Run("n", 0), Run("n_playback", 0), Run("n_playback", 1),
                                Run("n", 1), Run("n_playback", 2), Run("n_playback", 3)));
  EXPECT_EQ(made.runs[2].inputs.at(1).number, 1);
}

TEST_F(PlaybackTest, AChunkThatTheTraceCutsOffIsLeftOut) {
  run_turn(3);
  run_turn(3);
  run_turn(2);
  EXPECT_EQ(split().nodes[0]->passes.size(), 2U);
}

TEST_F(PlaybackTest, ChunksOfDifferentLengthsAreRefused) {
  run_turn(3);
  run_turn(2);
  run_turn(3);
  EXPECT_EQ(leapp::testing::code_of([&] { split(); }), Code::kRates);
}

TEST_F(PlaybackTest, NeedsAnUnusedName) {
  for (int i = 0; i < 2; ++i) {
    run_turn(2);
    pass("n_playback");
  }
  EXPECT_EQ(split().nodes[1]->name, "n_playback_");
}

}  // namespace
}  // namespace leapp::compile
