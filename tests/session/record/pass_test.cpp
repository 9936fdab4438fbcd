#include "session/record/pass.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

namespace leapp::session {
namespace {

TEST(MemoryUseTest, ItsValuesAreThoseOfItsTimes) {
  trace::CaptureTable captures;
  at::Tensor memory = at::ones({2});
  MemoryUse use;
  use.found = use.left = trace::alias_of(memory);
  use.before = captures.capture(memory);
  captures.before_write(memory);
  memory.fill_(2);
  use.after = captures.capture(memory);
  captures.before_write(memory);
  memory.fill_(3);
  EXPECT_TRUE(at::equal(use.value_before(), at::ones({2})));
  EXPECT_TRUE(at::equal(use.value_after(), at::full({2}, 2.0)));
}

TEST(MemoryUseTest, UnchangedMemoryIsAfterwardsWhatItWas) {
  trace::CaptureTable captures;
  const at::Tensor memory = at::ones({2});
  MemoryUse use;
  use.found = trace::alias_of(memory);
  use.before = captures.capture(memory);
  EXPECT_TRUE(at::equal(use.value_after(), memory));
  EXPECT_FALSE(use.value_after().is_alias_of(memory)) << "a copy";
}

TEST(MemoryUseTest, WithoutACaptureItIsWhatItHolds) {
  MemoryUse use;
  use.found = at::full({2}, 4.0);
  EXPECT_TRUE(at::equal(use.value_before(), at::full({2}, 4.0)));
}

class PassTest : public ::testing::Test {
 protected:
  PassTest() { pass_.recording.tape = tape_; }

  trace::CaptureTable captures_;
  std::shared_ptr<trace::Tape> tape_ = std::make_shared<trace::Tape>(captures_);
  Pass pass_;
};

TEST_F(PassTest, ATensorFromOutsideIsFoundByItsVariable) {
  for (const VarId var : {2, 5, 9}) pass_.outside.emplace_back().var = var;
  const struct {
    VarId var;
    int index;
  } table[] = {{2, 0}, {5, 1}, {9, 2}, {0, -1}, {4, -1}, {10, -1}};
  for (const auto& line : table) {
    const OutsideRead* expected =
        line.index < 0 ? nullptr : &pass_.outside[static_cast<std::size_t>(line.index)];
    EXPECT_EQ(pass_.find_outside(line.var), expected) << line.var;
  }
}

TEST_F(PassTest, MemoryIsFoundByAnyVariableInIt) {
  const at::Tensor memory = at::ones({4});
  const at::Tensor view = memory.slice(0, 1, 3);
  const at::Tensor other = at::ones({4});
  const VarId root = tape_->use(memory);
  const VarId inside = tape_->use(view);
  const VarId elsewhere = tape_->use(other);
  pass_.memory.emplace_back().var = root;
  EXPECT_EQ(pass_.find_memory(root), &pass_.memory[0]);
  EXPECT_EQ(pass_.find_memory(inside), &pass_.memory[0]);
  EXPECT_EQ(pass_.find_memory(elsewhere), nullptr);
}

TEST(PortIdTest, PortsAreOrderedByNodeAndName) {
  EXPECT_LT((PortId{0, "b"}), (PortId{1, "a"}));
  EXPECT_LT((PortId{1, "a"}), (PortId{1, "b"}));
  EXPECT_EQ((PortId{1, "a"}), (PortId{1, "a"}));
}

}  // namespace
}  // namespace leapp::session
