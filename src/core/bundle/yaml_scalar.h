// Single values of a YAML file: the meaning of plain scalars, and text that is read back unchanged.
//
// The files are also read by PyYAML, which follows YAML 1.1 ("yes" is true there, "1e5" is text),
// and yaml-cpp follows 1.2. Written text is quoted if either of them would read it as another type.
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

/// Returns the integer of a plain scalar; empty for other text, or if it does not fit.
LEAPP_EXPORT std::optional<std::int64_t> resolve_integer(const YamlNode& scalar);

/// Returns text as a scalar: plain if that is safe, otherwise in single or double quotes. The
/// result is always ASCII.
LEAPP_EXPORT std::string write_text(std::string_view text);

/// Returns a number that is read back bit for bit, with a decimal point so that it stays a
/// floating-point number: "50.0".
LEAPP_EXPORT std::string write_number(double value);

}  // namespace leapp
