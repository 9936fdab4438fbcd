#include "session/memory_table.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace leapp::session {
namespace {

using at::Tensor;

TEST(MemoryTableTest, FindsTheLastWriterThroughAnyView) {
  MemoryTable memory;
  const Tensor table = at::ones({2, 3});
  EXPECT_EQ(memory.find_writer(table), nullptr);
  memory.set_writer(table, {.node = 1, .pass = 0});
  memory.set_writer(table[0], {.node = 2, .pass = 4});
  ASSERT_NE(memory.find_writer(table.t()), nullptr);
  EXPECT_EQ(*memory.find_writer(table), (MemoryUse::Writer{2, 4}));
  EXPECT_EQ(memory.find_writer(at::ones({2, 3})), nullptr);
}

TEST(MemoryTableTest, ForgetsTheWriterOfFreedMemory) {
  MemoryTable memory;
  for (int i = 0; i < 100; ++i) {  // until an address is reused
    memory.set_writer(at::ones({4}), {.node = 1, .pass = 0});
    EXPECT_EQ(memory.find_writer(at::ones({4})), nullptr);
  }
}

TEST(MemoryTableTest, RemembersWhatACreatedTensorIsACopyOf) {
  MemoryTable memory;
  const Tensor measured = at::ones({3});
  const Tensor copy = measured.clone();
  const Tensor second = copy.clone();
  memory.add_creation(copy, measured, 2);
  memory.add_creation(second, copy, 3);
  const auto* found = memory.find_creation(second);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->recorded_passes, 3);
  EXPECT_EQ(found->copy_of->lock().get(), trace::memory_of(measured));
  EXPECT_EQ(memory.find_creation(measured), nullptr);
  memory.clear_creations();
  EXPECT_EQ(memory.find_creation(copy), nullptr);
}

TEST(MemoryTableTest, StopsFollowingAProgramThatKeepsThousandsOfTensors) {
  MemoryTable memory;
  std::vector<Tensor> kept;
  for (int i = 0; i < 4096; ++i) {
    kept.push_back(at::empty({1}));
    memory.add_creation(kept.back(), {}, 0);
  }
  const Tensor late = at::empty({1});
  memory.add_creation(late, {}, 0);
  EXPECT_EQ(memory.find_creation(late), nullptr);
  kept.clear();
  memory.add_creation(late, {}, 0);
  EXPECT_NE(memory.find_creation(late), nullptr);
}

}  // namespace
}  // namespace leapp::session
