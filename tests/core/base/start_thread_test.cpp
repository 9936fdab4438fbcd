#include "base/start_thread.h"

#include <gmock/gmock.h>

#include <atomic>

namespace leapp {
namespace {

TEST(StartThreadTest, RunsTheWork) {
  std::atomic<int> done{0};
  std::thread thread = start_thread("test", [&] { done = 42; });
  thread.join();
  EXPECT_EQ(done, 42);
}

// Throws what std::thread throws if the system refuses a thread; here, copying the argument throws
// it.
struct Refusing {
  Refusing() = default;
  Refusing(const Refusing&) {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  }
  void operator()() const {}
};

TEST(StartThreadTest, ASystemWithoutRoomForOneIsAnErrorOfOurs) {
  const Refusing work;
  try {
    start_thread("write the recording", work).join();
    FAIL() << "a thread was started";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kIo);
    EXPECT_THAT(error.text(),
                ::testing::HasSubstr("no thread could be started to write the recording: Resource "
                                     "temporarily unavailable"));
  }
}

}  // namespace
}  // namespace leapp
