#include "bundle/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "base/check.h"
#include "base/utf8.h"

namespace leapp {
namespace {

constexpr std::array<std::string_view, 9> kTrueWords = {"true", "True", "TRUE", "yes", "Yes",
                                                        "YES",  "on",   "On",   "ON"};
constexpr std::array<std::string_view, 9> kFalseWords = {"false", "False", "FALSE", "no", "No",
                                                         "NO",    "off",   "Off",   "OFF"};
constexpr std::array<std::string_view, 4> kNullWords = {"null", "Null", "NULL", "~"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view text) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string_view without_sign(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return text;
}

/// The parts of a number; `digits` has no sign, prefix or underscore.
struct Number {
  enum class Form { kInteger, kFloat, kInfinity, kNan } form;
  bool negative = false;
  int base = 10;
  std::string digits;
};

std::optional<Number> scan_prefixed_integer(std::string_view text, bool negative) {
  if (text.size() < 2 || text[0] != '0') return std::nullopt;
  int base = 8;  // YAML 1.1: 0777
  std::size_t skip = 1;
  if (text[1] == 'x') base = 16, skip = 2;
  if (text[1] == 'o') base = 8, skip = 2;
  if (text[1] == 'b') base = 2, skip = 2;
  Number number{Number::Form::kInteger, negative, base, {}};
  for (const char c : text.substr(skip)) {
    if (c == '_') continue;
    const bool fits =
        base == 16 ? std::isxdigit(static_cast<unsigned char>(c)) != 0 : c >= '0' && c < '0' + base;
    if (!fits) return std::nullopt;
    number.digits += c;
  }
  if (number.digits.empty()) return std::nullopt;
  return number;
}

std::optional<Number> scan_decimal(std::string_view text, bool negative) {
  Number number{Number::Form::kInteger, negative, 10, {}};
  std::size_t at = 0;
  std::size_t digits = 0;
  const auto take_digits = [&](bool underscores) {
    while (at < text.size() && (is_digit(text[at]) || (underscores && text[at] == '_'))) {
      if (text[at] != '_') number.digits += text[at], ++digits;
      ++at;
    }
  };
  if (text.empty() || text[0] == '_') return std::nullopt;
  take_digits(true);
  if (at < text.size() && text[at] == '.') {
    number.form = Number::Form::kFloat;
    number.digits += text[at++];
    take_digits(true);
  }
  if (digits == 0) return std::nullopt;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    number.form = Number::Form::kFloat;
    number.digits += text[at++];
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) number.digits += text[at++];
    digits = 0;
    take_digits(false);
    if (digits == 0) return std::nullopt;
  }
  if (at != text.size()) return std::nullopt;
  // 08 is a string: it is neither octal nor decimal.
  const bool padded = number.digits.size() > 1 && number.digits[0] == '0';
  if (number.form == Number::Form::kInteger && padded) return std::nullopt;
  return number;
}

std::optional<Number> scan_number(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  const std::string_view body = without_sign(text);
  if (body == ".inf" || body == ".Inf" || body == ".INF") {
    return Number{Number::Form::kInfinity, negative, 10, {}};
  }
  if (text == ".nan" || text == ".NaN" || text == ".NAN") {
    return Number{Number::Form::kNan, false, 10, {}};
  }
  if (auto number = scan_prefixed_integer(body, negative)) return number;
  return scan_decimal(body, negative);
}

std::optional<std::int64_t> integer_value(const Number& number) {
  const std::string text = (number.negative ? "-" : "") + number.digits;
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, number.base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

double float_value(const Number& number) {
  const double sign = number.negative ? -1.0 : 1.0;
  if (number.form == Number::Form::kInfinity) {
    return sign * std::numeric_limits<double>::infinity();
  }
  if (number.form == Number::Form::kNan) return std::numeric_limits<double>::quiet_NaN();
  double value = 0;
  const char* const end = number.digits.data() + number.digits.size();
  const auto [stop, error] = std::from_chars(number.digits.data(), end, value);
  // strtod() does not report in which direction a number is out of range; its results (0, infinity)
  // are also PyYAML's.
  if (error == std::errc::result_out_of_range) value = std::strtod(number.digits.c_str(), nullptr);
  return sign * value;
}

/// Returns whether YAML 1.1 reads the text as a date, such as 2024-01-31.
bool looks_like_date(std::string_view text) {
  return text.size() >= 8 && std::all_of(text.begin(), text.begin() + 4, is_digit) &&
         text[4] == '-' && is_digit(text[5]);
}

bool is_plain_safe(std::string_view text) {
  constexpr std::string_view kInside = "_-./+()=*&^%$;<>~@\\ ";
  constexpr std::string_view kFirst = "_./+(";
  if (text.empty() || text.back() == ' ') return false;
  const char first = text.front();
  if (!is_digit(first) && !is_letter(first) && kFirst.find(first) == std::string_view::npos) {
    return false;
  }
  const bool allowed = std::all_of(text.begin(), text.end(), [&](char c) {
    return is_digit(c) || is_letter(c) || kInside.find(c) != std::string_view::npos;
  });
  if (!allowed || text.starts_with("...")) return false;
  return !contains(kTrueWords, text) && !contains(kFalseWords, text) &&
         !contains(kNullWords, text) && !scan_number(text) && !looks_like_date(text) &&
         !std::all_of(text.begin(), text.end(), is_digit);  // YAML 1.2 reads 08 as a number
}

bool is_printable_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

std::string double_quoted(std::string_view text) {
  std::string quoted = "\"";
  std::size_t offset = 0;
  while (offset < text.size()) {
    const char32_t code = next_code_point(text, offset);
    char buffer[16];
    if (code == '"' || code == '\\') {
      quoted += '\\';
      quoted += static_cast<char>(code);
    } else if (code == '\n') {
      quoted += "\\n";
    } else if (code == '\t') {
      quoted += "\\t";
    } else if (code >= 0x20 && code < 0x7F) {
      quoted += static_cast<char>(code);
    } else {
      const char* const format = code <= 0xFF ? "\\x%02X" : code <= 0xFFFF ? "\\u%04X" : "\\U%08X";
      std::snprintf(buffer, sizeof(buffer), format, static_cast<unsigned>(code));
      quoted += buffer;
    }
  }
  return quoted + '"';
}

}  // namespace

Metadata resolve_scalar(const YamlNode& scalar) {
  if (scalar.quoted) return {scalar.text};
  if (scalar.is_null()) return {};
  const std::string_view text = scalar.text;
  if (contains(kTrueWords, text)) return {true};
  if (contains(kFalseWords, text)) return {false};
  if (const auto number = scan_number(text)) {
    if (number->form != Number::Form::kInteger) return {float_value(*number)};
    if (const auto value = integer_value(*number)) return {*value};
  }
  return {scalar.text};
}

std::optional<std::int64_t> resolve_integer(const YamlNode& scalar) {
  if (scalar.kind != YamlNode::Kind::kScalar || scalar.quoted) return std::nullopt;
  const auto number = scan_number(scalar.text);
  const bool decimal = number && number->form == Number::Form::kInteger && number->base == 10;
  return decimal ? integer_value(*number) : std::nullopt;  // parsers disagree about 010
}

std::string write_text(std::string_view text) {
  if (is_plain_safe(text)) return std::string(text);
  if (!is_printable_ascii(text)) {
    require(find_invalid_utf8(text) == std::string_view::npos, rule(2),
            "[B2] cannot write " + quote_for_message(text) + ": it is not valid UTF-8");
    return double_quoted(text);
  }
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c;
    if (c == '\'') quoted += c;
  }
  return quoted + '\'';
}

std::string write_number(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  char buffer[32];
  const double magnitude = std::abs(value);
  const bool fixed = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  const auto result =
      std::to_chars(buffer, buffer + sizeof(buffer), value,
                    fixed ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer, result.ptr);
  if (text.find('.') == std::string::npos) {
    // YAML 1.1 reads neither "50" nor "1e-05" as a floating-point number.
    const std::size_t exponent = text.find('e');
    text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
  }
  return text;
}

}  // namespace leapp
