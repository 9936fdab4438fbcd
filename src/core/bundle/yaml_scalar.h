// Single values of a YAML file: what plain text means, and how to write text so that it is read
// back.
//
// The files are also read by PyYAML, which follows YAML 1.1 ("yes" is true there, "1e5" is text),
// and yaml-cpp follows 1.2. Written text is quoted wherever either would take it for something
// else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bundle/yaml_tree.h"
#include "leapp/metadata.h"
#include "leapp/visibility.h"

namespace leapp {

/// Returns null, bool, integer, number or text by the rules of YAML 1.1; "1e5" is also a number.
LEAPP_EXPORT Metadata resolve_scalar(const YamlNode& scalar);

/// Returns the integer a plain scalar stands for; empty for anything else or when it does not fit.
LEAPP_EXPORT std::optional<std::int64_t> resolve_integer(const YamlNode& scalar);

/// Returns text as a scalar: plain if that is safe, else in single or double quotes; always ASCII.
LEAPP_EXPORT std::string write_text(std::string_view text);

/// Returns a number that is read back bit for bit, with a point so that it stays a number: "50.0".
LEAPP_EXPORT std::string write_number(double value);

}  // namespace leapp
