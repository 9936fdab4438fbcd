#include "import/fields.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"

namespace leapp::importing {
namespace {

// Removes spaces and the quotes of JSON.
std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  text = text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  return std::string(text);
}

// Commas inside brackets do not count, because older files contain "[-inf, inf],[-1.0, 1.0]".
std::vector<std::string> split(const std::string& text, const std::string& separators) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (depth == 0 && separators.find(c) != std::string::npos) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) part = trimmed(part);
  return parts;
}

// Returns "[1, 2]" as "1, 2"; leaves "[1, 2],[3, 4]" unchanged.
std::string without_brackets(const std::string& text) {
  if (text.find_first_of("])") != text.find_last_of("])")) return text;
  const bool bracketed = text.size() >= 2 && (text.front() == '[' || text.front() == '(') &&
                         (text.back() == ']' || text.back() == ')');
  return bracketed ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

std::optional<double> parse_number(const std::string& text) {
  double value = 0;
  const char* first = text.data();
  const char* last = text.data() + text.size();
  if (first != last && *first == '+') ++first;
  const auto [end, error] = std::from_chars(first, last, value);
  if (error != std::errc() || end != last || first == last) return std::nullopt;
  return value;
}

Fields::Fields(std::string file, const onnx::Properties& metadata, const Settings& settings)
    : file_(std::move(file)) {
  for (const auto& [key, value] : settings) {
    require(settings_.insert(key).second, Code::kWrongValue,
            "'" + key + "' is set twice; give it once");
    values_[key] = value;
  }
  std::set<std::string> seen;
  for (const auto& [key, value] : metadata) {
    if (!seen.insert(key).second && !settings_.contains(key)) {
      fail(Code::kBadKey, key, "appears twice; export the policy again, or set the key");
    }
    values_.emplace(key, value);
  }
}

const std::string* Fields::find(const std::string& key) const {
  asked_.insert(key);
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

void Fields::fail(Code code, const std::string& key, const std::string& what) const {
  throw Error(code, file_ + ": key " + quote_for_message(key) + " " + what);
}

void Fields::check_count(const std::string& key, std::size_t found, std::size_t expected,
                         const std::string& what) const {
  if (found == expected) return;
  fail(Code::kBadKey, key,
       "has " + std::to_string(found) + " values, expected " + std::to_string(expected) + ", " +
           what + "; correct the file, or set the key (--set " + key + "=..)");
}

const std::string& Fields::text(const std::string& key, const std::string& what) const {
  const std::string* value = find(key);
  if (value == nullptr) {
    fail(Code::kMissingKey, key,
         "is missing: give " + what + " (--set " + key + "=.., settings={'" + key + "': ..})");
  }
  return *value;
}

std::vector<std::string> Fields::texts(const std::string& key, const std::string& what) const {
  std::vector<std::string> parts = split(without_brackets(text(key, what)), ",");
  if (parts.size() > kMaxList) {
    fail(Code::kBadKey, key,
         "has " + std::to_string(parts.size()) + " values, but the limit is " +
             std::to_string(kMaxList));
  }
  for (const std::string& part : parts) {
    if (part.empty()) fail(Code::kBadKey, key, "has an empty value; expected " + what);
    if (find_invalid_utf8(part) != std::string::npos) {
      fail(Code::kBadKey, key, "is not text in UTF-8; expected " + what);
    }
  }
  return parts;
}

std::vector<std::vector<double>> Fields::nested(const std::string& key, const std::string& what,
                                                Bounds bounds) const {
  std::vector<std::vector<double>> values;
  for (const std::string& part : texts(key, what)) {
    std::vector<double>& entry = values.emplace_back();
    for (const std::string& number : split(without_brackets(part), ",;")) {
      const std::optional<double> value = parse_number(number);
      const bool fits = value && (is_finite_float(*value) ||
                                  (bounds == Bounds::kMayBeInfinite && std::isinf(*value)));
      if (!fits) {
        fail(Code::kBadKey, key,
             "has the value " + quote_for_message(number) + ", expected " +
                 (bounds == Bounds::kFinite ? "finite numbers" : "numbers") +
                 " that a float32 can hold: " + what);
      }
      if (entry.size() == kMaxList) fail(Code::kBadKey, key, "has too many values");
      entry.push_back(*value);
    }
  }
  return values;
}

std::vector<double> Fields::numbers(const std::string& key, const std::string& what,
                                    Bounds bounds) const {
  std::vector<double> values;
  for (const std::vector<double>& entry : nested(key, what, bounds)) {
    if (entry.size() != 1) {
      fail(Code::kBadKey, key, "has a group of numbers, expected single numbers: " + what);
    }
    values.push_back(entry[0]);
  }
  return values;
}

std::optional<double> Fields::positive(const std::string& key) const {
  const std::string* value = find(key);
  if (value == nullptr) return std::nullopt;
  const std::optional<double> number = parse_number(*value);
  if (!number || !is_finite_float(*number) || !(static_cast<float>(*number) > 0)) {
    fail(
        Code::kBadKey, key,
        "is " + quote_for_message(*value) + ", expected a positive number that a float32 can hold");
  }
  return number;
}

bool is_finite_float(double value) {
  return std::isfinite(static_cast<float>(value));
}

void Fields::check_settings() const {
  for (const std::string& key : settings_) {
    require(asked_.contains(key), Code::kWrongValue,
            file_ + ": this format has no setting " + quote_for_message(key) +
                "; docs/howto/import lists the keys of each format");
  }
}

}  // namespace leapp::importing
