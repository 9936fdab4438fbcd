#include "state/shared.h"

#include <gmock/gmock.h>

#include "state/written.h"
#include "told.h"

namespace leapp::state {
namespace {

using testing::before;
using testing::codes;
using testing::NodeWriter;
using testing::told;
using testing::World;
using Lines = std::vector<std::string>;

const Lines kWriter = {"add_(m, x)", "y = tanh(x)", "return y"};
const Lines kReader = {"y = mul(m, x)", "return y"};

// Two nodes that run one after the other in each tick.
class SharedTest : public ::testing::Test {
 protected:
  // `between` runs before each tick, outside of nodes. The second node runs in every `every`-th
  // tick.
  void run(const Lines& first, const Lines& second, int ticks,
           const std::function<void()>& between = {}, int every = 1) {
    a_ = std::make_unique<NodeWriter>(world_,
                                      testing::Program{.name = "a", .passes = 0, .lines = first});
    b_ = std::make_unique<NodeWriter>(world_,
                                      testing::Program{.name = "b", .passes = 0, .lines = second});
    for (int tick = 0; tick < ticks; ++tick) {
      if (between) between();
      a_->run();
      if (tick % every == 0) b_->run();
    }
    std::vector<NodeStates> alone;
    std::vector<std::vector<WrittenPass>> written;
    for (const NodeWriter* writer : {a_.get(), b_.get()}) {
      written.push_back(written_in(writer->node));
      alone.push_back(
          {.node = &writer->node, .states = find_written(writer->node, written.back().front())});
    }
    findings_.clear();
    found_ = find_shared(std::move(alone), written, findings_);
  }
  // "shared m <- m of 0/#1": fed by state 1 of node 0.
  Lines states() const {
    Lines lines;
    for (const NodeStates& node : found_) {
      const NodeWriter& writer = node.node == &a_->node ? *a_ : *b_;
      for (const State& state : node.states) {
        lines.push_back(writer.node.name + ": " + told(writer, state));
        if (!state.fed_by) continue;
        lines.back() += " of " + std::to_string(state.fed_by->node) + "/#" +
                        std::to_string(state.fed_by->state.value());
      }
    }
    return lines;
  }

  void write(const at::Tensor& value) {
    world_->captures.before_write(world_->tensors.at("m"));
    world_->tensors.at("m").copy_(value);
  }

  std::shared_ptr<World> world_ = std::make_shared<World>();
  std::unique_ptr<NodeWriter> a_;
  std::unique_ptr<NodeWriter> b_;
  std::vector<NodeStates> found_;
  Findings findings_;
};

TEST_F(SharedTest, OneNodeWritesWhatAnotherReads) {
  const Lines both = {"add_(m, x)", "y = mul(m, x)", "return y"};
  const struct {
    const char* what;
    Lines first;
    Lines second;
    Lines states;
  } table[] = {
      {"the writer first",
       kWriter,
       kReader,
       {"a: shared m <- m", "b: shared m <- nothing of 0/#0"}},
      {"the reader first",
       kReader,
       kWriter,
       {"a: shared m <- nothing of 1/#0", "b: shared m <- m"}},
      {"the writer reads it as well",
       both,
       kReader,
       {"a: written m <- m", "b: shared m <- nothing of 0/#0"}},
      {"both write", both, both, {"a: written m <- m of 1/#0", "b: written m <- m of 0/#0"}},
      {"both read", kReader, kReader, {}},
      {"each has its own", kWriter, {"y = mul(n, x)", "return y"}, {}},
  };
  for (const auto& line : table) {
    for (const int ticks : {1, 3}) {
      world_ = std::make_shared<World>();
      run(line.first, line.second, ticks);
      EXPECT_EQ(states(), line.states) << line.what << ", " << ticks << " ticks";
      EXPECT_THAT(findings_, ::testing::IsEmpty()) << line.what;
    }
  }
}

TEST_F(SharedTest, TheValuesAreThoseThatEachPassFound) {
  run(kWriter, kReader, 3);
  EXPECT_EQ(before(found_[0].states[0]), "1 1.5 3");
  EXPECT_EQ(before(found_[1].states[0]), "1.5 3 5.5");
}

TEST_F(SharedTest, WhatTheProgramSetsAnewBeforeEachTickIsNoState) {
  const Lines both = {"add_(m, x)", "y = mul(m, x)", "return y"};
  const struct {
    const char* what;
    Lines first;
    Lines states;
  } table[] = {
      {"the writer reads it", both, {"a: written ? <- m", "b: written m <- m of 0/#0"}},
      {"the writer only writes", kWriter, {"a: shared ? <- m", "b: written m <- m of 0/#0"}},
  };
  for (const auto& line : table) {
    world_ = std::make_shared<World>();
    world_->tensors["m"] = at::ones({3});
    run(line.first, both, 3, [&] { write(at::ones({3})); });
    EXPECT_EQ(states(), line.states) << line.what;
    EXPECT_TRUE(at::equal(found_[0].states[0].slot.value, at::ones({3}))) << line.what;
    EXPECT_EQ(found_[0].renewed.size(), 1U) << line.what;
    EXPECT_THAT(findings_, ::testing::IsEmpty()) << line.what;
  }
}

TEST_F(SharedTest, WhatIsSetAnewOnceIsState) {
  int tick = 0;
  world_->tensors["m"] = at::ones({3});
  run(kWriter, kReader, 4, [&] {
    if (tick++ == 2) write(at::ones({3}));
  });
  EXPECT_EQ(states(), (Lines{"a: shared m <- m", "b: shared m <- nothing of 0/#0"}));
}

TEST_F(SharedTest, WhatChangesBeforeEachTickIsNamed) {
  double value = 0;
  world_->tensors["m"] = at::ones({3});
  run(kWriter, kReader, 3, [&] { write(at::full({3}, value -= 1)); });
  EXPECT_EQ(codes(findings_), Lines{"LP304"});
}

TEST_F(SharedTest, PartsOfOneMemoryThatShareNoElementAreNotShared) {
  world_->tensors["both"] = at::ones({3, 2});
  world_->tensors["m"] = world_->tensors["both"].select(1, 0);
  world_->tensors["n"] = world_->tensors["both"].select(1, 1);
  for (const int ticks : {1, 3}) {
    run({"add_(m, x)", "y = mul(m, x)", "return y"}, {"add_(n, x)", "y = mul(n, x)", "return y"},
        ticks);
    EXPECT_EQ(states(), (Lines{"a: written m <- m", "b: written n <- n"})) << ticks;
    EXPECT_THAT(findings_, ::testing::IsEmpty()) << ticks;
  }
}

TEST_F(SharedTest, WhatIsReadInAnotherShapeCannotTravel) {
  world_->tensors["m"] = at::ones({3});
  world_->tensors["n"] = world_->tensors["m"].view({3, 1});
  run(kWriter, {"y = mul(n, x)", "return y"}, 2);
  EXPECT_EQ(codes(findings_), Lines{"LP306"});
  EXPECT_EQ(states(), Lines{});
}

TEST_F(SharedTest, APartThatHasNotChangedYetIsReadInAnotherShapeAllTheSame) {
  world_->tensors["m"] = at::zeros({2, 3});
  world_->tensors["part"] = world_->tensors["m"][1];
  world_->tensors["first"] = at::eye(2).narrow(1, 0, 1);
  run({"k = mul(first, x)", "add_(m, k)", "return k"}, {"y = mul(part, x)", "return y"}, 3);
  EXPECT_EQ(codes(findings_), Lines{"LP306"});
}

TEST_F(SharedTest, NodesThatShareMemoryAtDifferentRatesAreNamed) {
  for (const auto& [every, lines] : {std::pair(1, Lines{}), std::pair(4, Lines{"LP309"})}) {
    world_ = std::make_shared<World>();
    run(kReader, kWriter, 4, {}, every);
    EXPECT_EQ(codes(findings_), lines) << every;
  }
}

TEST_F(SharedTest, ABufferThatBothReplaceGoesRoundAfterASinglePass) {
  const Lines replace = {"buffer m", "m2 = mul(m, x)", "m := m2", "return m2"};
  run(replace, replace, 1);
  EXPECT_EQ(states(), (Lines{"a: declared m <- m2 of 1/#0", "b: declared m <- m2 of 0/#0"}));
}

TEST_F(SharedTest, ABufferThatOneReplacesAndAnotherWritesToGoesRoundAfterASinglePass) {
  run({"buffer m", "m2 = mul(m, x)", "m := m2", "return m2"},
      {"add_(m, x)", "y = mul(m, x)", "return y"}, 1);
  EXPECT_EQ(states(), (Lines{"a: declared m <- m2 of 1/#0", "b: written m <- m of 0/#0"}));
}

}  // namespace
}  // namespace leapp::state
