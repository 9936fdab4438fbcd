// Loading ahead: asked for any number of times, and in the way of nobody.
#include "compile/preparation.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leapp/error.h"
#include "viz/draw.h"

namespace leapp::compile {
namespace {

TEST(PreparationTest, AChildInheritsNoLock) {
  prepare();
  prepare();
  const pid_t child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    alarm(60);  // a lock that nobody holds any more ends the child by a signal
    try {
      preload_graphviz();
    } catch (const Error&) {  // no Graphviz on this machine: nothing to wait for
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
}

}  // namespace
}  // namespace leapp::compile
