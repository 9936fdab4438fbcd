#include "base/checkpoint.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "leapp/error.h"

namespace leapp {
namespace {

TEST(CheckpointTest, PassesUnlessTheTaskIsCancelled) {
  bool cancelled = false;
  const Checkpoint checkpoint([&] { return cancelled; });
  EXPECT_NO_THROW(checkpoint());
  EXPECT_NO_THROW(Checkpoint()());
  EXPECT_NO_THROW(Checkpoint(nullptr)());
  cancelled = true;
  try {
    checkpoint();
    FAIL() << "it went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kCancelled);
  }
}

TEST(CheckpointTest, PassesOnWhatTheCallbackThrows) {
  const Checkpoint checkpoint([]() -> bool { throw std::out_of_range("mine"); });
  EXPECT_THROW(checkpoint(), std::out_of_range);
}

}  // namespace
}  // namespace leapp
