// Values of a known form out of free metadata; each function is empty where the form is another.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/metadata.h"

namespace leapp {

/// Returns the value of that key, or null. Linear.
const Metadata* find_key(const Metadata::Map& map, std::string_view key) noexcept;

/// Replaces the value of that key, or adds it at the end.
void set_key(Metadata::Map& map, std::string_view key, Metadata value);

/// Returns an integer or a number; no bool.
std::optional<double> as_number(const Metadata& value);

/// Returns text that is not empty.
std::optional<std::string> as_text(const Metadata& value);

/// Returns one number, or a list of numbers that is not empty.
std::optional<std::vector<double>> as_numbers(const Metadata& value);

/// Returns a list of texts.
std::optional<std::vector<std::string>> as_texts(const Metadata& value);

/// Returns whether every key is one of these.
bool has_only(const Metadata::Map& map, std::initializer_list<std::string_view> known);

/// Returns one number as a scalar, several as a list.
Metadata to_metadata(const std::vector<double>& numbers);

}  // namespace leapp
