#include "controller/triple_buffer.h"

#include <thread>

#include "support.h"

namespace leapp {
namespace {

TEST(TripleBuffer, HandsTheNewestOver) {
  TripleBuffer buffer(2);
  EXPECT_EQ(buffer.size(), 2U);
  EXPECT_TRUE(buffer.read().empty());
  buffer.write(std::array{1.0, 2.0});
  buffer.write(std::array{3.0, 4.0});
  EXPECT_THAT(buffer.read(), ::testing::ElementsAre(3, 4));
  EXPECT_TRUE(buffer.read().empty());  // nothing new
  buffer.write(std::array{5.0, 6.0});
  EXPECT_THAT(buffer.read(), ::testing::ElementsAre(5, 6));
}

TEST(TripleBuffer, NeverTearsAndNeverGoesBack) {
  constexpr double kLast = 20000;
  TripleBuffer buffer(2);
  std::thread writer([&] {
    for (double i = 1; i <= kLast; ++i) buffer.write(std::array{i, -i});
  });
  double newest = 0;
  while (newest < kLast) {
    const auto values = buffer.read();
    if (values.empty()) continue;
    EXPECT_EQ(values[0], -values[1]);
    EXPECT_GT(values[0], newest);
    newest = values[0];
  }
  writer.join();
}

}  // namespace
}  // namespace leapp
