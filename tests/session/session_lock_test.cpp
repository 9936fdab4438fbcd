#include "session/session_lock.h"

#include <stdexcept>

#include "tracing.h"

namespace leapp::session {
namespace {

using leapp::testing::code_of;

// Ways in which code could reach the data without the lock. None of them may compile.
template <typename T>
concept IsReadableUnlocked = requires(T& session) {
  *session;
}
|| requires(T& session) {
  session->nodes;
}
|| requires(T& session) {
  session.data_;
}
|| requires(T& session) {
  session.tags;
}
|| requires(T& session) {
  session.tape;
};
static_assert(!IsReadableUnlocked<Session>);
static_assert(IsReadableUnlocked<SessionLock>);

TEST(SessionLockTest, PublishesTheActivityWhenItIsReleased) {
  Session session;
  {
    const SessionLock data(session);
    data->active = true;
    data->sizes_vary = true;
    data->nodes.open_pass(data->nodes.add("n", true), true, {});
    EXPECT_FALSE(session.active());
  }
  EXPECT_TRUE(session.active());
  EXPECT_EQ(session.activity().open_passes, 1);
  EXPECT_TRUE(session.activity().records);
  EXPECT_TRUE(session.activity().sizes_vary);
  EXPECT_FALSE(session.activity().has_tags);
  const at::Tensor y = at::ones({2});
  SessionLock(session)->tags.set(y, std::make_shared<const Tag>(Tag{.node = 0, .port = "y"}));
  EXPECT_TRUE(session.activity().has_tags);
}

TEST(SessionLockTest, DeliversMessagesAfterItIsReleased) {
  Session session;
  {
    const SessionLock data(session);
    data->messages.warn(Code::kDataDependentSize, "n", "a size varies", {});
    EXPECT_TRUE(session.diagnostics().by_harm().empty());
  }
  EXPECT_EQ(session.diagnostics().by_harm().size(), 1U);
}

TEST(SessionLockTest, TurnsAPlacedErrorIntoAnErrorAndReleasesTheLock) {
  Session session;
  const auto fail = [&] {
    locked(session, {}, [](SessionData&) { refuse(Code::kNodeNotOpen, "not open"); });
  };
  EXPECT_EQ(code_of(fail), Code::kNodeNotOpen);
  EXPECT_EQ(locked(session, {}, [](SessionData& data) { return data.recorded_passes; }), 0);
}

}  // namespace
}  // namespace leapp::session
