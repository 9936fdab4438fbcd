#include "controller/event_log.h"

#include <gmock/gmock.h>

namespace leapp {
namespace {

TEST(EventLog, CountsAllAndKeepsTheLast) {
  EventLog<int, 2> log;
  for (int i = 0; i < 300; ++i) log.add(i % 3 == 0 ? 1 : 0, i);
  EXPECT_THAT(log.counts(), ::testing::ElementsAre(200, 100));
  EXPECT_EQ(log.total(), 300U);
  EXPECT_EQ(log.at(299), 299);
  ASSERT_EQ(log.last().size(), 256U);
  EXPECT_EQ(log.last().front(), 44);
  log.clear();
  EXPECT_TRUE(log.last().empty());
  EXPECT_THAT(log.counts(), ::testing::Each(0));
}

}  // namespace
}  // namespace leapp
