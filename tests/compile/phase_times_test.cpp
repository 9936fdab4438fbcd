// The line that says how long an export took.
#include "compile/phase_times.h"

#include <gmock/gmock.h>

namespace leapp::compile {
namespace {

TEST(PhaseTimesTest, NamesEveryPhaseInOrder) {
  PhaseTimes times("state");
  times.next("graphs");
  EXPECT_THAT(times.text(),
              testing::MatchesRegex("Compiled in [0-9.]+ s: state [0-9.]+ s, graphs [0-9.]+ s"));
}

}  // namespace
}  // namespace leapp::compile
