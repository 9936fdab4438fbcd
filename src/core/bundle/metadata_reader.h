// Reads values of a known form from free metadata. Each function returns nothing if the value has a
// different form.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/metadata.h"

namespace leapp {

/// Returns the value of that key, or null. Takes linear time.
const Metadata* find_key(const Metadata::Map& map, std::string_view key) noexcept;

/// Replaces the value of that key, or adds it at the end.
void set_key(Metadata::Map& map, std::string_view key, Metadata value);

/// Returns an integer or a floating-point number, but no bool.
std::optional<double> as_number(const Metadata& value);

/// Returns a string that is not empty.
std::optional<std::string> as_text(const Metadata& value);

/// Returns one number, or a list of numbers that is not empty.
std::optional<std::vector<double>> as_numbers(const Metadata& value);

/// Returns a list of strings.
std::optional<std::vector<std::string>> as_texts(const Metadata& value);

/// Returns whether all keys of the mapping are in this list.
bool has_only(const Metadata::Map& map, std::initializer_list<std::string_view> known);

/// Returns one number as a scalar, several as a list.
Metadata to_metadata(const std::vector<double>& numbers);

}  // namespace leapp
