#include "session/record/between.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <gmock/gmock.h>

namespace leapp::session {
namespace {

using ::testing::ElementsAre;

Route call(std::vector<std::optional<Route>> routes) {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::cat", "");
  return {{}, std::make_shared<BetweenCall>(BetweenCall{op, {}, {}, std::move(routes), {}})};
}

TEST(BetweenTest, ARouteBeginsWithTheOutputsOfAllItsCalls) {
  const Route y = {{0, "y"}};
  const Route z = {{1, "z"}};
  EXPECT_THAT(sources_of(y), ElementsAre(PortId{0, "y"}));
  const Route both = call({z, std::nullopt, call({y})});
  EXPECT_THAT(sources_of(both), ElementsAre(PortId{0, "y"}, PortId{1, "z"}));
  EXPECT_THAT(sources_of(call({both, both, y})), ElementsAre(PortId{0, "y"}, PortId{1, "z"}));
}

}  // namespace
}  // namespace leapp::session
