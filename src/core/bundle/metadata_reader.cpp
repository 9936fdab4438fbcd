#include "bundle/metadata_reader.h"

#include <algorithm>

namespace leapp {

const Metadata* find_key(const Metadata::Map& map, std::string_view key) noexcept {
  const auto found = std::find_if(map.begin(), map.end(),
                                  [&](const Metadata::Entry& entry) { return entry.first == key; });
  return found == map.end() ? nullptr : &found->second;
}

void set_key(Metadata::Map& map, std::string_view key, Metadata value) {
  const auto found = std::find_if(map.begin(), map.end(),
                                  [&](const Metadata::Entry& entry) { return entry.first == key; });
  if (found != map.end()) {
    found->second = std::move(value);
  } else {
    map.emplace_back(std::string(key), std::move(value));
  }
}

std::optional<double> as_number(const Metadata& value) {
  if (const auto* const integer = std::get_if<std::int64_t>(&value.value)) {
    return static_cast<double>(*integer);
  }
  if (const auto* const number = std::get_if<double>(&value.value)) return *number;
  return std::nullopt;
}

std::optional<std::string> as_text(const Metadata& value) {
  const auto* const text = std::get_if<std::string>(&value.value);
  if (text == nullptr || text->empty()) return std::nullopt;
  return *text;
}

std::optional<std::vector<double>> as_numbers(const Metadata& value) {
  if (const auto number = as_number(value)) return std::vector<double>{*number};
  const auto* const list = std::get_if<Metadata::List>(&value.value);
  if (list == nullptr || list->empty()) return std::nullopt;
  std::vector<double> numbers;
  for (const Metadata& item : *list) {
    const auto number = as_number(item);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<std::vector<std::string>> as_texts(const Metadata& value) {
  const auto* const list = std::get_if<Metadata::List>(&value.value);
  if (list == nullptr) return std::nullopt;
  std::vector<std::string> texts;
  for (const Metadata& item : *list) {
    auto text = as_text(item);
    if (!text) return std::nullopt;
    texts.push_back(std::move(*text));
  }
  return texts;
}

bool has_only(const Metadata::Map& map, std::initializer_list<std::string_view> known) {
  return std::all_of(map.begin(), map.end(), [&](const Metadata::Entry& entry) {
    return std::find(known.begin(), known.end(), entry.first) != known.end();
  });
}

Metadata to_metadata(const std::vector<double>& numbers) {
  if (numbers.size() == 1) return {numbers.front()};
  Metadata::List list;
  for (const double number : numbers) list.push_back({number});
  return {std::move(list)};
}

}  // namespace leapp
