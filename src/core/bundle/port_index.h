// A port by its indices.
#pragma once

#include <compare>
#include <cstddef>

namespace leapp {

/// A port of one side: an input or an output, as the context says.
struct PortIndex {
  std::size_t node = 0;
  std::size_t port = 0;

  auto operator<=>(const PortIndex&) const = default;
};

}  // namespace leapp
