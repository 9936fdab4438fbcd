#include "base/utf8.h"

#include <gtest/gtest.h>

#include "leapp/log.h"
#include "leapp/result.h"

namespace leapp {
namespace {

TEST(Utf8, ValidTextHasNoInvalidByte) {
  EXPECT_EQ(find_invalid_utf8(""), std::string_view::npos);
  EXPECT_EQ(find_invalid_utf8("größe 模型 🤖"), std::string_view::npos);
}

TEST(Utf8, FindsTheFirstInvalidByte) {
  EXPECT_EQ(find_invalid_utf8("ab\xFF"), 2U);
  EXPECT_EQ(find_invalid_utf8("\x80"), 0U);
  EXPECT_EQ(find_invalid_utf8("a\xC3"), 1U);             // truncated
  EXPECT_EQ(find_invalid_utf8("\xC0\xAF"), 0U);          // overlong
  EXPECT_EQ(find_invalid_utf8("\xE0\x9F\xBF"), 0U);      // overlong
  EXPECT_EQ(find_invalid_utf8("\xED\xA0\x80"), 0U);      // surrogate
  EXPECT_EQ(find_invalid_utf8("\xF4\x90\x80\x80"), 0U);  // past U+10FFFF
}

TEST(Utf8, DecodesCodePoints) {
  std::size_t offset = 0;
  const std::string_view text = "aö模🤖";
  EXPECT_EQ(next_code_point(text, offset), U'a');
  EXPECT_EQ(next_code_point(text, offset), U'ö');
  EXPECT_EQ(next_code_point(text, offset), U'模');
  EXPECT_EQ(next_code_point(text, offset), U'🤖');
  EXPECT_EQ(offset, text.size());
}

TEST(Utf8, MessagesShowControlCharactersAndStayShort) {
  EXPECT_EQ(quote_for_message("a\nö\xFF"), "'a\\x0Aö\\xFF'");
  EXPECT_EQ(quote_for_message(std::string(200, 'x')), "'" + std::string(80, 'x') + "'...");
}

TEST(Utf8, WhatIsPrintedCommandsNoTerminal) {
  EXPECT_EQ(printable("größe 模型 🤖\n\ta"), "größe 模型 🤖\n\ta");
  EXPECT_EQ(printable("\x1B[2J\r\x7F"), "\\x1B[2J\\x0D\\x7F");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m\xFF"),
            "\\xC2\\x9B31m\\xFF");
  // Text that is displayed differently from its bytes: a reversed name, a hidden space, a line
  // separator.
  EXPECT_EQ(printable("a\u202Egnp.exe"), "a\\xE2\\x80\\xAEgnp.exe");
  for (const char* hidden :
       {"\u061C", "\u200B", "\u200F", "\u2028", "\u2066", "\uFEFF", "\U000E0041"}) {
    EXPECT_EQ(printable(hidden).substr(0, 2), "\\x") << printable(hidden);
    EXPECT_EQ(quote_for_message(hidden).substr(0, 3), "'\\x");
  }
  EXPECT_EQ(printable("\u0645\u06CC\u200C\u0634"),
            "\u0645\u06CC\u200C\u0634");  // a joiner in Persian
  EXPECT_EQ(Failure(Code::kUsage, "\u202Ex").text(), "???x");
  EXPECT_STREQ(Error(Code::kUsage, "\x1B[2J").what(), "\\x1B[2J [LP007]");
  EXPECT_EQ(Failure(Code::kUsage, "\x1B[2J ö").text(), "?[2J ö");
}

TEST(Utf8, MessagesAreBounded) {
  const std::string name(100'000, 'x');
  const Error error(Code::kUsage, "it begins; " + name + "; what to do");
  EXPECT_LT(error.text().size(), kMaxMessage + 100);
  EXPECT_TRUE(error.text().starts_with("it begins; xxx"));
  EXPECT_TRUE(error.text().ends_with("xxx; what to do"));
  EXPECT_NE(error.text().find("characters left out"), std::string::npos);
  EXPECT_EQ(bounded_message(std::string(kMaxMessage, 'x')), std::string(kMaxMessage, 'x'));
  // Truncation never splits a character.
  std::string letters;
  while (letters.size() < 20'000) letters += "模";
  EXPECT_EQ(find_invalid_utf8(bounded_message(letters)), std::string_view::npos);
  EXPECT_EQ(find_invalid_utf8(bounded_message("a" + letters)), std::string_view::npos);
}

}  // namespace
}  // namespace leapp
