// What must hold for one name and one port, asked by annotations, exporters and readers alike.
//
// Each function returns what is wrong in words that end a sentence, or an empty text.
#pragma once

#include <string>
#include <string_view>

#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

/// B5: a node's name is 1 to 200 bytes of UTF-8 without control characters and '/'.
LEAPP_EXPORT std::string find_node_name_fault(std::string_view name);

/// B5: the same for a port's name, which may hold '/'.
LEAPP_EXPORT std::string find_port_name_fault(std::string_view name);

/// B8: the shape has no negative size and its bytes can be counted.
LEAPP_EXPORT std::string find_shape_fault(const Shape& shape, DType dtype);

/// B10: element names fit the shape, at most one dimension is a time axis and its period is
/// positive.
LEAPP_EXPORT std::string find_element_names_fault(const ElementNames& names, const Shape& shape);

/// B11: extra keys do not take the place of the port's own.
LEAPP_EXPORT std::string find_extra_fault(const Metadata::Map& extra);

/// B11: no key twice, and not nested too deep to be read back.
LEAPP_EXPORT std::string find_metadata_fault(const Metadata::Map& map);

/// Bytes of a tensor of a shape that has no fault.
inline std::uint64_t byte_count(const Port& port) {
  return static_cast<std::uint64_t>(element_count(port.shape)) * size_of(port.dtype);
}

}  // namespace leapp
