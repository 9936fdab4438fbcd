// The record of a pass: its ports, and the memory and external tensors that it used.
#include "tracing.h"

namespace leapp {
namespace {

using at::Tensor;
using session::MemoryUse;
using session::PortId;
using testing::code_of;
using ::testing::ElementsAre;

class PassBuilderTest : public testing::Tracing {
 protected:
  void SetUp() override {
    Tracing::SetUp();
    begin();
  }
};

TEST_F(PassBuilderTest, RecordsPortsWithCopiesOfTheirValues) {
  Tensor y = pass();
  y.zero_();
  const session::Pass& made = first_pass();
  EXPECT_EQ(made.recording.inputs.at(0).name, "x");
  EXPECT_EQ(made.recording.outputs.at(0).name, "y");
  EXPECT_TRUE(at::equal(made.inputs.at(0), at::ones({2})));
  EXPECT_TRUE(at::equal(made.outputs.at(0), at::full({2}, 2.0)));
  EXPECT_LT(made.recording.first_call, made.recording.end_call);
}

TEST_F(PassBuilderTest, RecordsMemoryThatIsReadAndWritten) {
  Tensor sum = at::zeros({2});
  for (int i = 0; i < 2; ++i) {
    sum.add_(in("n", at::ones({2})));
    out("n", sum * 2);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& memory = node().passes.at(i).memory;
    ASSERT_EQ(memory.size(), 1U);
    EXPECT_TRUE(memory[0].declared.empty());
    EXPECT_TRUE(at::equal(memory[0].value_before(), at::full({2}, static_cast<double>(i))));
    EXPECT_TRUE(at::equal(memory[0].value_after(), at::full({2}, static_cast<double>(i + 1))));
  }
  EXPECT_EQ(first_pass().memory[0].writer, std::nullopt);
  EXPECT_EQ(node().passes[1].memory[0].writer, (MemoryUse::Writer{node().id, 0}));
}

TEST_F(PassBuilderTest, RecordsMemoryThatIsOnlyReadInTheFirstPass) {
  const Tensor weight = at::full({2}, 3.0);
  for (int i = 0; i < 2; ++i) out("n", in("n", at::ones({2})) * weight);
  ASSERT_EQ(first_pass().memory.size(), 1U);
  EXPECT_FALSE(first_pass().memory[0].after);
  EXPECT_TRUE(at::equal(first_pass().memory[0].value_before(), weight));
  EXPECT_TRUE(node().passes.at(1).memory.empty());
}

TEST_F(PassBuilderTest, SaysWhatMemoryIsACopyOf) {
  const Tensor measured = at::rand({4});
  const Tensor kept = measured.slice(0, 1, 3).clone().clone();
  out("n", in("n", at::ones({2})) * kept + at::ones({2}));
  ASSERT_EQ(first_pass().memory.size(), 2U);
  EXPECT_EQ(first_pass().memory[0].copy_of.get(), trace::memory_of(measured));
  EXPECT_FALSE(first_pass().memory[1].copy_of);
}

TEST_F(PassBuilderTest, RecordsDeclaredMemoryByItsName) {
  const Tensor x = in("n", at::ones({2}));
  const Tensor h = annotate::state_tensors("n", {{"h", at::zeros({2})}})[0];
  annotate::update_state("n", {{"h", h + x}});
  Tensor count = at::zeros({2});
  annotate::register_buffer("n", {{"count", count}});
  count.add_(x);
  out("n", x + count);
  const auto& memory = first_pass().memory;
  ASSERT_EQ(memory.size(), 2U);
  EXPECT_EQ(memory[0].declared, "h");
  EXPECT_TRUE(at::equal(memory[0].value_after(), at::ones({2})));
  EXPECT_EQ(memory[1].declared, "count");
  EXPECT_EQ(first_pass().find_memory(memory[1].var), &memory[1]);
}

TEST_F(PassBuilderTest, SaysWhoWroteWhatANodeReads) {
  Tensor shared = at::zeros({2});
  shared.add_(in("a", at::ones({2})));
  annotate::output_tensors("a", {});
  out("b", in("b", at::ones({2})) + shared);
  ASSERT_EQ(first_pass("b").outside.size(), 1U);
  EXPECT_EQ(first_pass("b").outside[0].writer, (MemoryUse::Writer{node("a").id, 0}));
}

TEST_F(PassBuilderTest, SaysWhichOutputAnOutsideTensorIs) {
  const Tensor y = pass("a");
  out("b", in("b", at::ones({2})) + y);
  ASSERT_EQ(first_pass("b").outside.size(), 1U);
  EXPECT_EQ(first_pass("b").outside[0].source, (PortId{node("a").id, "y"}));
  EXPECT_EQ(first_pass("b").outside[0].from, node("a").id);
}

TEST_F(PassBuilderTest, SaysWhatAnOutsideTensorWasInEarlierPasses) {
  const Tensor weight = at::ones({2});
  Tensor carried = at::zeros({2});
  for (int i = 0; i < 2; ++i) {
    const Tensor x = in("n", at::ones({2})) * weight;
    carried = x + carried;
    out("n", carried);
  }
  const auto& outside = node().passes.at(1).outside;
  ASSERT_EQ(outside.size(), 2U);
  EXPECT_TRUE(outside[0].known.at(0).same_object);  // the weight
  EXPECT_EQ(outside[0].known[0].var, first_pass().outside.at(0).var);
  EXPECT_EQ(outside[1].known.at(0).var, first_pass().recording.outputs.at(0).var);
  EXPECT_TRUE(first_pass().outside.at(0).known.empty());
}

TEST_F(PassBuilderTest, AnOutputIsTheNodesOwn) {
  const Tensor y = pass("a");
  Tensor clock = at::zeros({2});
  in("b", at::ones({2}));
  EXPECT_EQ(code_of([&] { out("b", y); }), Code::kMixedNodes);
  EXPECT_EQ(code_of([&] { out("b", at::ones({2})); }), Code::kNotTraced);
  clock.add_(1);
  out("b", clock * 2);  // depends on a state, not on an input
}

TEST_F(PassBuilderTest, WarnsOfOutputsWhoseSizeVaries) {
  const Tensor x = in("n", at::ones({2}));
  out("n", x.masked_select(x > 0));
  EXPECT_THAT(codes(), ElementsAre(Code::kDataDependentSize));
}

}  // namespace
}  // namespace leapp
