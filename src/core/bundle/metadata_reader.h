// Values of a known form out of free metadata; each function is empty where the form is another.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/metadata.h"

namespace leapp {

/// The value of that key, or null. Linear.
const Metadata* find_key(const Metadata::Map& map, std::string_view key) noexcept;

/// Replaces the value of that key, or adds it at the end.
void set_key(Metadata::Map& map, std::string_view key, Metadata value);

/// An integer or a number; no bool.
std::optional<double> as_number(const Metadata& value);

/// Text that is not empty.
std::optional<std::string> as_text(const Metadata& value);

/// One number, or a list of numbers that is not empty.
std::optional<std::vector<double>> as_numbers(const Metadata& value);

/// A list of texts.
std::optional<std::vector<std::string>> as_texts(const Metadata& value);

/// Whether every key is one of these.
bool has_only(const Metadata::Map& map, std::initializer_list<std::string_view> known);

/// One number alone, several as a list.
Metadata to_metadata(const std::vector<double>& numbers);

}  // namespace leapp
