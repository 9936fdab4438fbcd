#include "controller/strict_yaml.h"

#include <gmock/gmock.h>

#include "leapp/error.h"
#include "support.h"

namespace leapp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;

class StrictYamlTest : public ::testing::Test {
 protected:
  const std::string file = "f.yaml";
  const StrictYaml yaml{file, Code::kSupervision};
  const YamlNode root = parse_yaml(
      "number: 2\nwhole: 1.5\nnames: [a, b]\ntwice: [a, a]\nempty: ''\nlong: 1.0e+12\n", file);

  const YamlNode& at(const char* key) const { return *root.find(key); }
};

TEST_F(StrictYamlTest, ReadsWhatIsThere) {
  EXPECT_EQ(yaml.number(at("number")), 2);
  EXPECT_EQ(yaml.duration(at("whole")), 1.5);
  EXPECT_EQ(yaml.text(at("number")), "2");
  EXPECT_THAT(yaml.names(at("names")), ElementsAre("a", "b"));
  yaml.expect_keys(root, {"number", "whole", "names", "twice", "empty", "long", "other"});
}

TEST_F(StrictYamlTest, NamesTheLineOfWhatIsNot) {
  EXPECT_THAT(message_of([&] { yaml.expect_keys(root, {"number"}); }),
              HasSubstr("f.yaml:2:1: there is no 'whole'; there are: number [LP656]"));
  EXPECT_THAT(message_of([&] { yaml.expect_keys(at("number"), {}); }), HasSubstr("a mapping"));
  EXPECT_THAT(message_of([&] { yaml.number(at("names")); }), HasSubstr("expected a number"));
  EXPECT_THAT(message_of([&] { yaml.duration(at("long")); }), HasSubstr("number of seconds"));
  EXPECT_THAT(message_of([&] { yaml.text(at("empty")); }), HasSubstr("expected text"));
  EXPECT_THAT(message_of([&] { yaml.names(at("number")); }), HasSubstr("expected a list"));
  EXPECT_THAT(message_of([&] { yaml.names(at("twice")); }), HasSubstr("'a' appears twice"));
}

}  // namespace
}  // namespace leapp
