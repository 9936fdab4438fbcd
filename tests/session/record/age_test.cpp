#include "session/record/age.h"

#include <gmock/gmock.h>

namespace leapp::session {
namespace {

using ::testing::Eq;
using ::testing::Optional;

// {pass, source_pass, completed}
Age age_of(const std::vector<Age::Read>& reads) {
  Age age;
  for (const Age::Read& read : reads) age.add(read);
  return age;
}

TEST(AgeTest, NothingReceivedIsAPlainWire) {
  EXPECT_EQ(Age().delay(0), 0);
  EXPECT_EQ(Age().delay(1), 1);
  EXPECT_THAT(Age().distance(), Eq(std::nullopt));
}

TEST(AgeTest, TheSameTickAndTheTickBefore) {
  EXPECT_EQ(age_of({{0, 0, 1}, {1, 1, 2}}).delay(0), 0);
  EXPECT_EQ(age_of({{1, 0, 1}, {2, 1, 2}}).delay(1), 1);
  EXPECT_EQ(age_of({{1, 0, 2}, {2, 1, 3}}).delay(0), 1);  // its source had already run
}

TEST(AgeTest, TwoTicksAndMore) {
  EXPECT_EQ(age_of({{2, 0, 2}, {3, 1, 3}}).delay(1), 2);
  EXPECT_EQ(age_of({{3, 0, 4}, {4, 1, 5}}).delay(0), 3);
  EXPECT_EQ(age_of({{2, 0, 2}}).delay(1), 2);  // read once
}

TEST(AgeTest, PassesThatOneNodeRanAloneAtFirstDoNotCount) {
  EXPECT_EQ(age_of({{0, 1, 2}, {1, 2, 3}}).delay(0), 0);  // the source
  EXPECT_EQ(age_of({{0, 0, 2}, {1, 1, 3}}).delay(0), 1);  // and the last tick
  EXPECT_EQ(age_of({{2, 0, 1}, {3, 1, 2}}).delay(1), 1);  // the reader
  EXPECT_EQ(age_of({{0, 0, 2}}).delay(0), 0);             // one more sample, before any read
  EXPECT_EQ(age_of({{3, 1, 5}}).delay(0), 3);             // the source, three ticks ago
}

TEST(AgeTest, AllPassesOfOneNodeMayComeFirst) {
  const Age age = age_of({{0, 0, 3}, {1, 1, 3}, {2, 2, 3}});
  EXPECT_EQ(age.delay(0), 0);
  EXPECT_THAT(age.distance(), Optional(0));
}

TEST(AgeTest, AVaryingDistanceIsKnownWithItsPlace) {
  const Age age = age_of({{0, 0, 1}, {1, 0, 1}, {2, 1, 2}});
  EXPECT_THAT(age.distance(), Eq(std::nullopt));
  EXPECT_EQ(age.deviating().pass, 1);
  EXPECT_EQ(age.reads(), 3);
  EXPECT_EQ(age.delay(0), 0);
}

}  // namespace
}  // namespace leapp::session
