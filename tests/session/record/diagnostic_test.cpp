#include "session/record/diagnostic.h"

#include <gmock/gmock.h>

#include "base/log.h"

namespace leapp {
namespace {

using ::testing::ElementsAre;

Diagnostic branch(const std::string& where = "policy.py:42 in act") {
  return {.code = Code::kBranch, .where = where, .node = "pi", .text = "a choice is fixed"};
}

// Stores the logged lines while it exists.
class Lines {
 public:
  Lines()
      : former_(set_log_sink([this](LogLevel level, std::string_view line) {
          all.push_back(std::string(name_of(level)) + " " + std::string(line));
        })) {}
  ~Lines() { set_log_sink(std::move(former_)); }

  std::vector<std::string> all;

 private:
  LogSink former_;
};

TEST(Diagnostic, IsOneLineThatEndsWithItsCode) {
  EXPECT_EQ(to_string(branch()), "policy.py:42 in act: a choice is fixed [LP201]");
  EXPECT_EQ(to_string(branch("")), "a choice is fixed [LP201]");
}

TEST(Diagnostic, IsDataInJson) {
  EXPECT_EQ(to_json({}), "[]\n");
  Diagnostic odd = branch("a\"b\\c");
  odd.text = "tab\there";
  odd.settled_by_another_pass = true;
  EXPECT_EQ(to_json({branch(), odd}),
            "[\n  {\"code\": \"LP201\", \"level\": \"WARNING\", \"node\": \"pi\", \"where\": "
            "\"policy.py:42 in act\", \"text\": \"a choice is fixed\", "
            "\"settled_by_another_pass\": false},\n  {\"code\": \"LP201\", \"level\": \"WARNING\", "
            "\"node\": \"pi\", \"where\": \"a\\\"b\\\\c\", \"text\": \"tab\\u0009here\", "
            "\"settled_by_another_pass\": true}\n]\n");
}

TEST(Diagnostics, SayEachThingOnce) {
  const Lines lines;
  Diagnostics said;
  EXPECT_TRUE(said.add(branch()));
  EXPECT_FALSE(said.add(branch()));
  EXPECT_TRUE(said.add(branch("policy.py:43 in act")));
  EXPECT_THAT(lines.all, ElementsAre("WARNING policy.py:42 in act: a choice is fixed [LP201]",
                                     "WARNING policy.py:43 in act: a choice is fixed [LP201]"));
  said.clear();
  EXPECT_TRUE(said.by_harm().empty());
  EXPECT_TRUE(said.add(branch()));
}

TEST(Diagnostics, ComeMostHarmfulFirstAndElseInOrder) {
  const Lines lines;
  Diagnostics said;
  const auto add = [&](LogLevel level, const std::string& text, bool guess) {
    said.add(
        {.code = Code::kBranch, .level = level, .text = text, .settled_by_another_pass = guess});
  };
  add(LogLevel::kInfo, "remark", false);
  add(LogLevel::kWarning, "guess", true);
  add(LogLevel::kWarning, "first", false);
  add(LogLevel::kWarning, "second", false);
  add(LogLevel::kError, "error", false);
  std::vector<std::string> order;
  for (const Diagnostic& each : said.by_harm()) order.push_back(each.text);
  EXPECT_THAT(order, ElementsAre("error", "first", "second", "guess", "remark"));
}

}  // namespace
}  // namespace leapp
