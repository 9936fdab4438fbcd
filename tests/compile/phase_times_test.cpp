#include "compile/phase_times.h"

#include <gmock/gmock.h>

namespace leapp::compile {
namespace {

using ::testing::MatchesRegex;

TEST(PhaseTimesTest, NamesThePhasesInOrder) {
  PhaseTimes times;
  times.end("state");
  times.end("graphs");
  EXPECT_THAT(times.to_string(), MatchesRegex("[0-9.]+ s: state [0-9.]+ s, graphs [0-9.]+ s"));
  EXPECT_LE(times.began(), PhaseTimes::Clock::now());
}

}  // namespace
}  // namespace leapp::compile
