#include "bundle/yaml_scalar.h"

#include <cmath>
#include <limits>

#include "support.h"

namespace leapp {
namespace {

using test::error_of;
using testing::HasSubstr;

Metadata resolve(const std::string& text, bool quoted = false) {
  YamlNode node;
  node.text = text;
  node.quoted = quoted;
  return resolve_scalar(node);
}

TEST(YamlScalar, PlainTextIsResolvedAsPyYamlDoes) {
  EXPECT_EQ(resolve("~"), Metadata{});
  EXPECT_EQ(resolve(""), Metadata{});
  EXPECT_EQ(resolve("yes"), Metadata{true});
  EXPECT_EQ(resolve("Off"), Metadata{false});
  EXPECT_EQ(resolve("y"), Metadata{std::string("y")});
  EXPECT_EQ(resolve("-1_000"), Metadata{std::int64_t{-1000}});
  EXPECT_EQ(resolve("0x1F"), Metadata{std::int64_t{31}});
  EXPECT_EQ(resolve("017"), Metadata{std::int64_t{15}});
  EXPECT_EQ(resolve("0b101"), Metadata{std::int64_t{5}});
  EXPECT_EQ(resolve("0"), Metadata{std::int64_t{0}});
  EXPECT_EQ(resolve("1.5"), Metadata{1.5});
  EXPECT_EQ(resolve("-.5"), Metadata{-0.5});
  EXPECT_EQ(resolve("1.0e-05"), Metadata{1e-5});
  EXPECT_EQ(resolve("-.inf"), Metadata{-std::numeric_limits<double>::infinity()});
  EXPECT_TRUE(std::isnan(std::get<double>(resolve(".nan").value)));
  EXPECT_EQ(resolve("0.7.2"), Metadata{std::string("0.7.2")});
  EXPECT_EQ(resolve("None"), Metadata{std::string("None")});
  EXPECT_EQ(resolve("09"), Metadata{std::string("09")});  // neither octal nor decimal
  EXPECT_EQ(resolve("08.5"), Metadata{8.5});
}

// Readers of YAML 1.1 and 1.2 disagree about 010, and about 08.
TEST(YamlScalar, IntegersAreDecimalWithoutPadding) {
  const auto integer = [](const std::string& text) {
    YamlNode node;
    node.text = text;
    return resolve_integer(node);
  };
  EXPECT_EQ(integer("8"), 8);
  EXPECT_EQ(integer("-8"), -8);
  EXPECT_EQ(integer("0"), 0);
  for (const char* odd : {"08", "010", "0x8", "0b1", "8.0", "1e1", " 8", "eight"}) {
    EXPECT_EQ(integer(odd), std::nullopt) << odd;
  }
}

TEST(YamlScalar, QuotedTextIsText) {
  EXPECT_EQ(resolve("12", true), Metadata{std::string("12")});
  EXPECT_EQ(resolve("null", true), Metadata{std::string("null")});
}

TEST(YamlScalar, NumbersOutOfRangeStayReadable) {
  EXPECT_EQ(resolve("99999999999999999999"), Metadata{std::string("99999999999999999999")});
  EXPECT_EQ(resolve("1e999"), Metadata{std::numeric_limits<double>::infinity()});
}

TEST(YamlScalar, TextThatWouldBeMisreadIsQuoted) {
  for (const char* text :
       {"yes", "No",         "null", "~",    "",    "12", "1.3", "1e5",   "0x10", ".inf",
        "-x",  "2024-01-31", "a: b", "a #b", "#a",  "'a", "\"",  "[a]",   "{",    "a,b",
        "*a",  "&a",         "08",   "0123", "!a",  "|",  ">",   "%a",    "@a",   "`a",
        " a",  "a ",         "-",    "?",    "...", "=",  "<<",  "12:30", "it's"}) {
    const std::string written = write_text(text);
    EXPECT_TRUE(written.front() == '\'' || written.front() == '"') << text;
    const YamlNode back = parse_yaml("k: [" + written + "]\n" + written + ": 1\n", "w.yaml");
    EXPECT_EQ(back.find("k")->items[0].text, text);
    EXPECT_TRUE(back.find("k")->items[0].quoted);
    EXPECT_EQ(back.entries[1].key.text, text);
  }
}

TEST(YamlScalar, OrdinaryTextStaysPlain) {
  for (const char* text : {"obs", "state/joint/position", "0.7.2", "2.13.0+cpu", "None", "a b-c.d",
                           "Debian GNU/Linux 12", "__temporal_axis__", "y", "n", "a_0"}) {
    EXPECT_EQ(write_text(text), text);
  }
}

TEST(YamlScalar, TextBeyondAsciiIsEscaped) {
  EXPECT_EQ(write_text("größe"), "\"gr\\xF6\\xDFe\"");
  EXPECT_EQ(write_text("模\n\t\"\\🤖"), "\"\\u6A21\\n\\t\\\"\\\\\\U0001F916\"");
  const YamlNode back = parse_yaml("k: " + write_text("模\n\t\"\\🤖\x01"), "w.yaml");
  EXPECT_EQ(back.find("k")->text, "模\n\t\"\\🤖\x01");
}

TEST(YamlScalar, b2_TextThatIsNotUtf8CannotBeWritten) {
  EXPECT_THAT(error_of(ErrorKind::kValue, [] { write_text("a\xFF"); }),
              HasSubstr("[B2] cannot write 'a\\xFF': it is not valid UTF-8"));
}

TEST(YamlScalar, NumbersComeBackBitForBit) {
  EXPECT_EQ(write_number(50), "50.0");
  EXPECT_EQ(write_number(1e-5), "1.0e-05");
  EXPECT_EQ(write_number(1e300), "1.0e+300");
  EXPECT_EQ(write_number(-std::numeric_limits<double>::infinity()), "-.inf");
  for (const double value : {0.1, -0.0, 1e15, 1e16, 123456789.125, 5e-324, 1.7976931348623157e308,
                             1e-4, 0.00012345678901234567}) {
    EXPECT_EQ(resolve(write_number(value)), Metadata{value}) << write_number(value);
  }
}

}  // namespace
}  // namespace leapp
