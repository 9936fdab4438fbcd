// Contents of external memory: shared until a write, then copied.
#include "trace/capture.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

namespace leapp::trace {
namespace {

TEST(Capture, SharesTheMemoryUntilItIsFrozen) {
  const at::Tensor weight = at::ones({4});
  Capture capture(weight);
  EXPECT_EQ(capture.content(weight).const_data_ptr(), weight.const_data_ptr());
  capture.freeze();
  EXPECT_NE(capture.content(weight).const_data_ptr(), weight.const_data_ptr());
  EXPECT_TRUE(at::equal(capture.content(weight), weight));
}

TEST(Capture, KeepsWhatAViewSaw) {
  const at::Tensor whole = at::arange(6, at::kFloat).view({2, 3});
  const at::Tensor column = whole.select(1, 2);
  Capture capture(whole);
  capture.freeze();
  whole.zero_();
  EXPECT_TRUE(at::equal(capture.content(column), at::tensor({2.0F, 5.0F})));
}

TEST(Capture, TellsWritesNobodyAnnounced) {
  const at::Tensor weight = at::ones({4});
  Capture capture(weight);
  EXPECT_FALSE(capture.changed_unseen());
  weight.add_(1);
  EXPECT_TRUE(capture.changed_unseen());
}

TEST(CaptureTable, FreezesBeforeAWriteAndStartsAnew) {
  const at::Tensor buffer = at::ones({4});
  CaptureTable table;
  const auto first = table.capture(buffer);
  EXPECT_EQ(table.capture(buffer.view({2, 2})), first);
  table.before_write(buffer);
  buffer.fill_(7);
  EXPECT_TRUE(at::equal(first->content(buffer), at::ones({4})));
  const auto second = table.capture(buffer);
  EXPECT_NE(second, first);
  EXPECT_TRUE(at::equal(second->content(buffer), at::full({4}, 7.0F)));
}

}  // namespace
}  // namespace leapp::trace
