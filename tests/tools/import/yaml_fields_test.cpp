#include "import/yaml_fields.h"

#include <gmock/gmock.h>

#include "support.h"

namespace leapp::importing {
namespace {

using leapp::testing::error_of;
using ::testing::ElementsAre;
using ::testing::StartsWith;

class YamlFieldsTest : public ::testing::Test {
 protected:
  YamlNode root_ = parse_yaml(
      "rate: 50\n"
      "gains: [1, 2.5]\n"
      "joints: [hip, knee]\n"
      "order: [1, 0]\n"
      "on: true\n"
      "nothing: null\n"
      "huge: [1e39]\n"
      "words: [a, [b]]\n"
      "action:\n"
      "  scale: 0.5\n",
      "deploy.yaml");
  YamlFields fields_{root_, "deploy.yaml"};
};

TEST_F(YamlFieldsTest, ValuesOfEachKind) {
  EXPECT_EQ(fields_.number("rate", "the rate"), 50);
  EXPECT_THAT(fields_.numbers("gains", "gains"), ElementsAre(1, 2.5));
  EXPECT_THAT(fields_.numbers("rate", "one for all", 3), ElementsAre(50, 50, 50));
  EXPECT_THAT(fields_.texts("joints", "names"), ElementsAre("hip", "knee"));
  EXPECT_THAT(fields_.integers("order", "places"), ElementsAre(1, 0));
  EXPECT_TRUE(fields_.flag("on", false));
  EXPECT_TRUE(fields_.flag("off", true));
  EXPECT_EQ(fields_.find("nothing"), nullptr);
  EXPECT_EQ(fields_.mapping("action", "the action").number("scale", "the scale"), 0.5);
  EXPECT_EQ(fields_.mapping("action", "the action").path_of("scale"), "action.scale");
}

TEST_F(YamlFieldsTest, AMissingKeyIsNamedWithItsPlace) {
  EXPECT_THAT(error_of([&] { fields_.number("dt", "the time step"); }), StartsWith("LP822"));
  EXPECT_THAT(error_of([&] { fields_.texts("nothing", "names"); }), StartsWith("LP822"));
}

TEST_F(YamlFieldsTest, ValuesOfAnotherFormAreRefused) {
  EXPECT_THAT(error_of([&] { fields_.number("joints", "a number"); }), StartsWith("LP823"));
  EXPECT_THAT(error_of([&] { fields_.numbers("joints", "numbers"); }), StartsWith("LP823"));
  EXPECT_THAT(error_of([&] { fields_.numbers("gains", "numbers", 3); }), StartsWith("LP823"));
  EXPECT_THAT(error_of([&] { fields_.numbers("rate", "numbers"); }), StartsWith("LP823"));
  EXPECT_THAT(error_of([&] { fields_.numbers("huge", "numbers"); }), StartsWith("LP823"));
  EXPECT_THAT(error_of([&] { fields_.integers("gains", "places"); }), StartsWith("LP823"));
  EXPECT_THAT(error_of([&] { fields_.texts("words", "names"); }), StartsWith("LP823"));
  EXPECT_THAT(error_of([&] { fields_.flag("rate", false); }), StartsWith("LP823"));
  EXPECT_THAT(error_of([&] { fields_.mapping("rate", "a mapping"); }), StartsWith("LP823"));
}

}  // namespace
}  // namespace leapp::importing
