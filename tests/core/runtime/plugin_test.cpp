// Libraries with engines, opened by name.
#include <gmock/gmock.h>

#include "support.h"

namespace leapp {
namespace {

using ::testing::HasSubstr;
using namespace leapp::testing;

TEST(PluginTest, MissingPluginSaysWhereItWasSought) {
  const std::string message = message_of([] { open_engine_plugin("libleapp_engine_none.so"); });
  EXPECT_THAT(message, HasSubstr("engine plugin 'libleapp_engine_none.so' was not found"));
  EXPECT_THAT(message, HasSubstr("LEAPP_ENGINE_PATH may name the directory"));
}

TEST(PluginTest, ALibraryThatIsNoEngineIsRefused) {
  EXPECT_THAT(message_of([] { open_engine_plugin("libm.so.6"); }), ::testing::EndsWith("[LP613]"));
}

}  // namespace
}  // namespace leapp
