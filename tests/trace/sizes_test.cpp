#include "trace/sizes.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tape_writer.h"

namespace leapp::trace {
namespace {

using at::Tensor;
using testing::find_op;
using testing::TapeWriter;

bool is_no_state(const Tensor&) {
  return false;
}

// Returns what traced values determine about the size of x.masked_select(mask).
class Selection {
 public:
  explicit Selection(bool traced) {
    if (traced) {
      writer.input(mask);
    } else {
      writer.tape->use(mask);
    }
  }
  std::optional<SizeQuestion> ask(bool (*is_state)(const Tensor&) = is_no_state) {
    const torch::jit::Stack arguments = {x, mask};
    return ask_sizes(*writer.tape, op, arguments.data(), is_state);
  }

  TapeWriter writer;
  c10::OperatorHandle op = find_op("aten::masked_select", "");
  Tensor x = at::arange(4, at::kFloat);
  Tensor mask = at::tensor({1, 0, 1, 0}).to(at::kBool);
};

TEST(SizesTest, AsksWhereATracedMaskSelects) {
  EXPECT_TRUE(Selection(true).ask());
  EXPECT_FALSE(Selection(false).ask());
  EXPECT_TRUE(Selection(false).ask([](const Tensor&) { return true; }));  // the mask is state
}

TEST(SizesTest, NotesWhichSizesVary) {
  Selection made(true);
  auto question = made.ask();
  ASSERT_TRUE(question);
  const Tensor chosen = made.writer.call("aten::masked_select", "", {made.x, made.mask});
  question->answer(made.op, {chosen});
  EXPECT_TRUE(question->note(*made.writer.tape));
  EXPECT_NE(made.writer.tape->variable(made.writer.var(chosen)).dynamic, 0U);

  // Element-wise results have a varying size as well; sums do not.
  for (const auto& [name, varies] : {std::pair("aten::sin", true), std::pair("aten::sum", false)}) {
    const auto op = find_op(name, "");
    torch::jit::Stack arguments = {chosen};
    if (!varies) arguments.emplace_back();
    auto next = ask_sizes(*made.writer.tape, op, arguments.data(), is_no_state);
    ASSERT_TRUE(next) << name;
    const Tensor result = made.writer.call(name, "", arguments);
    next->answer(op, {result});
    EXPECT_EQ(next->note(*made.writer.tape), varies) << name;
  }
}

TEST(SizesTest, KnowsOperatorsThatWriteByIndex) {
  EXPECT_TRUE(writes_by_index(find_op("aten::index_put_", "")));
  EXPECT_TRUE(writes_by_index(find_op("aten::index_put", "")));
  EXPECT_FALSE(writes_by_index(find_op("aten::index_add_", "")));
}

TEST(SizesTest, SeesThroughTheDimensionsThatAnIndexedWriteDrops) {
  const struct {
    const char* name;
    std::vector<std::int64_t> values, view;
    bool sees_through;
  } table[] = {
      {"one row, dropped", {1, 2}, {2}, true},
      {"two elements, reshaped", {2, 1}, {2}, false},
      {"more dimensions than are indexed", {1, 1, 2}, {2}, false},
  };
  for (const auto& line : table) {
    TapeWriter writer;
    const Tensor values = at::ones(line.values);
    writer.input(values);
    const Tensor view = writer.call("aten::view", "", {values, line.view});
    const Tensor target = at::zeros({4, 2});
    c10::List<std::optional<Tensor>> indices;
    indices.push_back(at::tensor({0, 1, 0, 0}).to(at::kBool));
    const torch::jit::Stack arguments = {target, indices, view};
    const VarId found = before_squeeze(*writer.tape, arguments.data(), writer.var(view));
    EXPECT_EQ(found, writer.var(line.sees_through ? values : view)) << line.name;
  }
}

}  // namespace
}  // namespace leapp::trace
