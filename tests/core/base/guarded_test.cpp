#include "base/guarded.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace leapp {
namespace {

struct Counter {
  int value = 0;
};

// Ways in which code could reach a value without its mutex. None of them may compile.
template <typename T>
concept IsReadableUnlocked = requires(T& guarded) {
  *guarded;
}
|| requires(T& guarded) {
  guarded->value;
}
|| requires(T& guarded) {
  guarded.value_;
}
|| requires(T& guarded) {
  guarded.value();
};

static_assert(!IsReadableUnlocked<Guarded<Counter>>);
static_assert(IsReadableUnlocked<Guarded<Counter>::Access>);
static_assert(!std::is_copy_constructible_v<Guarded<Counter>>);
static_assert(!std::is_copy_constructible_v<Guarded<Counter>::Access>);

TEST(GuardedTest, LetsOneThreadInAtATime) {
  Guarded<Counter> guarded;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 1000; ++k) ++Guarded<Counter>::Access(guarded)->value;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ((*Guarded<Counter>::Access(guarded)).value, 4000);
}

}  // namespace
}  // namespace leapp
