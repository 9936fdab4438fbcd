// Rules for one name and one port, used by annotations, exporters and readers.
//
// Each function returns the fault as the end of a sentence, or an empty string.
#pragma once

#include <string>
#include <string_view>

#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

/// Checks that a node's name is 1 to 200 bytes of UTF-8 without control characters and '/': B5.
LEAPP_EXPORT std::string find_node_name_fault(std::string_view name);

/// Checks a port's name, which may contain '/': B5.
LEAPP_EXPORT std::string find_port_name_fault(std::string_view name);

/// Checks that the shape has no negative size and that the number of its bytes does not overflow:
/// B8.
LEAPP_EXPORT std::string find_shape_fault(const Shape& shape, DType dtype);

/// Checks that element names match the shape, that at most one dimension is a time axis, and that
/// its period is positive: B10.
LEAPP_EXPORT std::string find_element_names_fault(const ElementNames& names, const Shape& shape);

/// Checks that extra keys do not replace the port's own: B11.
LEAPP_EXPORT std::string find_extra_fault(const Metadata::Map& extra);

/// Checks for duplicate keys, and for nesting that is too deep for the reader: B11.
LEAPP_EXPORT std::string find_metadata_fault(const Metadata::Map& map);

/// Returns the bytes of a tensor with a valid shape.
inline std::uint64_t byte_count(const Port& port) {
  return static_cast<std::uint64_t>(element_count(port.shape)) * size_of(port.dtype);
}

}  // namespace leapp
