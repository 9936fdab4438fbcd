#include "bundle/yaml_tree.h"

#include "support.h"

namespace leapp {
namespace {

using test::error_of;
using testing::HasSubstr;
using testing::StartsWith;

std::string parse_refusal(const std::string& yaml) {
  return error_of(ErrorKind::kValue, [&] { parse_yaml(yaml, "w.yaml"); });
}

TEST(YamlTree, KeepsOrderQuotesAndPlaces) {
  const YamlNode root = parse_yaml("b: [1, '2']\na:\n  c: ~\n", "w.yaml");
  ASSERT_EQ(root.entries.size(), 2U);
  EXPECT_EQ(root.entries[0].key.text, "b");
  const YamlNode& list = *root.find("b");
  EXPECT_FALSE(list.items[0].quoted);
  EXPECT_TRUE(list.items[1].quoted);
  const YamlNode& null = *root.find("a")->find("c");
  EXPECT_TRUE(null.is_null());
  EXPECT_EQ(position("w.yaml", null), "w.yaml:3:6: ");
  EXPECT_EQ(root.find("missing"), nullptr);
}

TEST(YamlTree, b2_MalformedYamlNamesThePlace) {
  EXPECT_THAT(parse_refusal("a: [1, 2\nb: 3\n"), StartsWith("w.yaml:2:2: [B2] not valid YAML: "));
  EXPECT_THAT(parse_refusal(""), StartsWith("w.yaml:1:1: [B2] "));
}

TEST(YamlTree, AliasesAreCopies) {
  const YamlNode root = parse_yaml("a: &x [1, {b: 2}]\nc: *x\nd: &x 7\ne: [*x]\n", "w.yaml");
  EXPECT_EQ(root.find("c")->items[1].find("b")->text, "2");
  EXPECT_EQ(position("w.yaml", *root.find("c")), "w.yaml:2:4: ");
  EXPECT_EQ(root.find("e")->items[0].text, "7");  // an anchor may be redefined
}

TEST(YamlTree, b2_AliasBombsAreRefused) {
  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb +=
        "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last + ", " + last + "]\n";
  }
  EXPECT_THAT(parse_refusal(bomb), HasSubstr("more than 2000000 values"));
  std::string heavy = "a: &a " + std::string(1'000'000, 'x') + "\nb:\n";
  for (int i = 0; i < 10'000; ++i) heavy += "- *a\n";
  EXPECT_THAT(parse_refusal(heavy), HasSubstr("more than 2000000 values"));
  std::string tower = "a0: &a0 [x]\n";
  for (int i = 1; i < 100; ++i) {
    tower += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) +
             "]\n";
  }
  EXPECT_THAT(parse_refusal(tower), HasSubstr("nested deeper than 64 levels"));
  EXPECT_THAT(parse_refusal("a: &x [*x]\n"),
              StartsWith("w.yaml:1:8: [B2] this alias refers to a node that contains it"));
  EXPECT_THAT(parse_refusal("a: &x b\n*x : c\n"), HasSubstr("not an alias"));
  EXPECT_THAT(parse_refusal("a: &x {b: 1}\nc: {<<: *x}\n"), HasSubstr("merge keys"));
}

TEST(YamlTree, b2_DeepNestingIsRefused) {
  for (const char* piece : {"[", "{a: ", "- ", "? ", "a: {"}) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += piece;
    EXPECT_THAT(parse_refusal(text), HasSubstr("[B2]")) << piece;
  }
  EXPECT_THAT(parse_refusal(std::string(100, '[') + std::string(100, ']')),
              StartsWith("w.yaml:1:65: [B2] nested deeper than 64"));
}

TEST(YamlTree, b2_RepeatedAndStructuredKeysAreRefused) {
  EXPECT_THAT(parse_refusal("a: 1\nb: 2\na: 3\n"),
              StartsWith("w.yaml:3:1: [B2] the key 'a' appears twice"));
  EXPECT_THAT(parse_refusal("? [1, 2]\n: 3\n"),
              HasSubstr("a key must be a plain string, not a list"));
}

TEST(YamlTree, b2_OneDocumentOfUtf8) {
  EXPECT_THAT(parse_refusal("a: 1\n---\nb: 2\n"), HasSubstr("a second YAML document starts here"));
  EXPECT_THAT(parse_refusal("a: 1\nb: \xFF\n"),
              StartsWith("w.yaml:2:4: [B2] the file is not valid UTF-8"));
  EXPECT_THAT(parse_refusal(std::string("a: \0", 4)),
              StartsWith("w.yaml:1:4: [B2] the file is not valid UTF-8"));
}

// yaml-cpp would keep gigabytes of tokens for these.
TEST(YamlTree, b2_OneValueMayNotBeEndless) {
  YamlLimits limits;
  limits.max_lookahead = 100'000;
  for (const char* piece : {"[", "[\n", "[1,1,\n", "x ", "# x\n"}) {
    std::string text = "a: 1\nb: ";
    while (text.size() < 200'000) text += piece;
    const std::string fault =
        error_of(ErrorKind::kValue, [&] { parse_yaml(text, "w.yaml", limits); });
    EXPECT_THAT(fault, StartsWith("w.yaml:2:")) << piece;
    EXPECT_THAT(fault, HasSubstr("has more than 100000 bytes")) << piece;
  }
  const std::string text(std::size_t{1} << 20, 'x');
  EXPECT_EQ(parse_yaml("a: '" + text + "'", "w.yaml").find("a")->text, text);
}

TEST(YamlTree, b2_TooManyValuesAreRefused) {
  EXPECT_THAT(error_of(ErrorKind::kValue,
                       [] {
                         parse_yaml("[1, 2, 3, 4]", "w.yaml", {64, 4});
                       }),
              StartsWith("w.yaml:1:11: [B2] more than 4 values"));
}

}  // namespace
}  // namespace leapp
