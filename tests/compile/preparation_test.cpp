// Loading libraries in advance: it may be requested repeatedly, and disturbs no one.
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
    alarm(60);  // if the child inherited a locked mutex, a signal ends it
    try {
      preload_graphviz();
    } catch (const Error&) {  // there is no Graphviz on this machine
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
}

}  // namespace
}  // namespace leapp::compile
