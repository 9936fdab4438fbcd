#include "controller/history_ring.h"

#include "support.h"

namespace leapp {
namespace {

std::vector<double> window(const HistoryRing& ring, std::size_t steps) {
  std::vector<double> all;
  for (std::size_t i = 0; i < steps; ++i) all.push_back(ring.step(i)[0]);
  return all;
}

void push(HistoryRing& ring, double value) {
  ring.push(std::vector<double>{value});
}

TEST(HistoryRing, TheFirstValueFillsIt) {
  HistoryRing ring(History{}, 3, 1, 1);
  EXPECT_TRUE(ring.empty());
  push(ring, 1);
  EXPECT_EQ(window(ring, 3), (std::vector<double>{1, 1, 1}));
  for (const double value : {2, 3, 4, 5}) push(ring, value);
  EXPECT_EQ(window(ring, 3), (std::vector<double>{3, 4, 5}));
  ring.clear();
  push(ring, 9);
  EXPECT_EQ(window(ring, 3), (std::vector<double>{9, 9, 9}));
}

TEST(HistoryRing, AGivenStartAndTheOtherOrder) {
  HistoryRing ring(History{HistoryOrder::kNewestFirst, std::vector<double>{0}}, 3, 1, 1);
  push(ring, 1);
  push(ring, 2);
  EXPECT_EQ(window(ring, 3), (std::vector<double>{2, 1, 0}));
}

TEST(HistoryRing, StepsFurtherApartThanSamples) {
  HistoryRing ring(History{}, 3, 1, 2);
  for (int i = 1; i <= 7; ++i) push(ring, i);
  EXPECT_EQ(window(ring, 3), (std::vector<double>{3, 5, 7}));
}

TEST(HistoryRing, RepeatsTheNewest) {
  HistoryRing ring(History{}, 3, 2, 1);
  ring.push(std::vector<double>{1, 10});
  for (const double value : {2, 3}) {
    ring.push(std::vector<double>{value, 10 * value});
    ring.repeat();
    EXPECT_EQ(ring.step(2)[0], value);
    EXPECT_EQ(ring.step(1)[1], 10 * value);
    EXPECT_EQ(ring.step(0)[0], value - 1);
  }
}

}  // namespace
}  // namespace leapp
