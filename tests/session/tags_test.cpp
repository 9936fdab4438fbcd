#include "session/tags.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace leapp::session {
namespace {

using at::Tensor;

const TagRef kTag =
    std::make_shared<const Tag>(Tag{.node = 3, .port = "y", .detours = {}, .pass = 2});

TEST(TagsTest, ATagBelongsToTheDataNotToTheObject) {
  TagTable tags;
  EXPECT_TRUE(tags.empty());
  const Tensor y = at::ones({4});
  tags.set(y, kTag);
  for (const Tensor& same : {y, y.detach(), y.view({2, 2}), y.slice(0, 0, 4)}) {
    const auto found = tags.find(same);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->node, 3);
    EXPECT_EQ(found->port, "y");
    EXPECT_EQ(found->pass, 2);
    EXPECT_TRUE(found->exact());
  }
  for (const Tensor& other : {y.slice(0, 0, 2), y.clone(), Tensor()}) {
    EXPECT_FALSE(tags.find(other));
  }
  tags = {};
  EXPECT_FALSE(tags.find(y));
}

TEST(TagsTest, AStrangersArrayOverTheSameBytesHasTheTag) {
  TagTable tags;
  const Tensor y = at::ones({4});
  tags.set(y, kTag);
  EXPECT_TRUE(tags.find(at::from_blob(y.data_ptr(), {4})));
}

TEST(TagsTest, ATensorWithGapsHasItsTagByItself) {
  TagTable tags;
  const Tensor column = at::ones({4, 2}).select(1, 0);
  tags.set(column, kTag);
  EXPECT_TRUE(tags.find(column));
  EXPECT_FALSE(tags.find(column.detach()));
}

TEST(TagsTest, MemoryThatWasWrittenOrFreedHasNone) {
  TagTable tags;
  Tensor y = at::ones({4});
  tags.set(y, kTag);
  y.add_(1);
  EXPECT_FALSE(tags.find(y));
  for (int i = 0; i < 100; ++i) {  // until an address is reused
    tags.set(at::ones({4}), kTag);
    EXPECT_FALSE(tags.find(at::ones({4})));
  }
}

TEST(TagsTest, ATensorOfInferenceModeHasNoVersionAndKeepsItsTag) {
  const at::InferenceMode inference;
  TagTable tags;
  const Tensor y = at::ones({4});
  tags.set(y, kTag);
  EXPECT_TRUE(tags.find(y));
}

TEST(TagsTest, AViewWithGapsOverwritesNoWholeTensor) {
  TagTable tags;
  const Tensor whole = at::ones({4, 2});
  tags.set(whole, kTag);
  const Tensor column = at::from_blob(whole.data_ptr(), {4, 1}, {2, 1});
  EXPECT_EQ(tags.forget_memory(column).size(), 1U);
}

TEST(TagsTest, ForgettingMemoryGivesBackWhatKeepsSomeElements) {
  TagTable tags;
  const Tensor y = at::ones({4});
  tags.set(y, kTag);
  EXPECT_TRUE(tags.forget_memory(at::ones({4})).empty());
  EXPECT_TRUE(tags.find(y));
  const auto kept = tags.forget_memory(y.slice(0, 0, 1));
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_TRUE(kept[0].first.is_same(y));
  EXPECT_EQ(kept[0].second->port, "y");
  EXPECT_FALSE(tags.find(y));
  tags.set(y, kTag);
  EXPECT_TRUE(tags.forget_memory(y).empty());  // the whole tensor
  EXPECT_FALSE(tags.find(y));
}

TEST(TagsTest, ForgettingFindsRegionsThatBeginBeforeAndInside) {
  TagTable tags;
  const Tensor y = at::ones({8});
  for (const auto& [from, to] : {std::pair{0, 8}, {0, 1}, {1, 3}, {2, 4}, {5, 8}}) {
    tags.set(y.slice(0, from, to), kTag);
  }
  tags.forget_memory(y.slice(0, 2, 3));
  for (const auto& [from, to] : {std::pair{0, 8}, {1, 3}, {2, 4}}) {
    EXPECT_FALSE(tags.find(y.slice(0, from, to))) << from;
  }
  for (const auto& [from, to] : {std::pair{0, 1}, {5, 8}}) {
    EXPECT_TRUE(tags.find(y.slice(0, from, to))) << from;
  }
}

TEST(TagsTest, ACopyHasTheTagAndAnyOtherResultRemembersTheDetour) {
  TagTable tags;
  const Tensor copy = at::ones({4});
  tags.set(copy, kTag);
  EXPECT_TRUE(tags.find(copy)->exact());
  TagRef tag = kTag;
  for (std::size_t i = 1; i < 7; ++i) {
    const Tensor sum = at::ones({4});
    tags.set_detour(*tag, sum, {"aten::add", {}}, nullptr, 0);
    tag = tags.find(sum);
    EXPECT_FALSE(tag->exact());
    EXPECT_EQ(tag->detours.size(), std::min<std::size_t>(i, 4));  // more entries would add nothing
  }
  EXPECT_EQ(tag->detours[0].op, "aten::add");
}

TEST(TagsTest, TheLivingSurviveTheDeadBeingSweptOut) {
  TagTable tags;
  const Tensor y = at::ones({4});
  tags.set(y, kTag);
  for (int i = 0; i < 3000; ++i) tags.set(at::ones({1}), kTag);
  ASSERT_TRUE(tags.find(y.detach()));
  EXPECT_EQ(tags.find(y)->node, 3);
}

TEST(TagsTest, WhatAnOpenPassTookInIsInsideThatPass) {
  TagTable tags;
  const Tensor y = at::ones({4});
  const Tensor handle = y.alias();
  tags.set(y, kTag);
  const auto inside = std::make_shared<const Tag>(Tag{.node = 5, .port = ""});
  tags.enter(handle, inside);
  EXPECT_EQ(tags.find_inside(handle), inside);
  EXPECT_EQ(tags.find_inside(y), kTag);
  EXPECT_EQ(tags.find(handle), kTag);
  tags.leave(handle);
  EXPECT_EQ(tags.find_inside(handle), kTag);
}

}  // namespace
}  // namespace leapp::session
