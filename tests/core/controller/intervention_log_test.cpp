#include "controller/intervention_log.h"

#include "support.h"

namespace leapp {
namespace {

TEST(InterventionLog, CountsAllAndKeepsTheLast) {
  InterventionLog log;
  for (std::uint64_t tick = 0; tick < 300; ++tick) log.add(tick, Cause::kStale, "pi/q");
  log.add(300, Cause::kLate, {});
  EXPECT_EQ(log.counts()[static_cast<std::size_t>(Cause::kStale)], 300U);
  EXPECT_EQ(log.counts()[static_cast<std::size_t>(Cause::kLate)], 1U);
  EXPECT_EQ(log.total(), 301U);
  EXPECT_EQ(log.at(300).cause, Cause::kLate);
  const std::vector<Intervention> last = log.last();
  ASSERT_EQ(last.size(), 256U);
  EXPECT_EQ(last.front().tick, 45U);
  EXPECT_EQ(last.back().tick, 300U);
  log.clear();
  EXPECT_EQ(log.total(), 0U);
  EXPECT_TRUE(log.last().empty());
  EXPECT_EQ(log.counts()[static_cast<std::size_t>(Cause::kStale)], 0U);
}

TEST(InterventionLog, NamesOfCauses) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kCauses; ++i) names.push_back(name_of(static_cast<Cause>(i)));
  EXPECT_THAT(names, ::testing::ElementsAre("clamped", "slewed", "beyond_limits", "not_finite",
                                            "stale", "late", "tick_failed"));
}

}  // namespace
}  // namespace leapp
