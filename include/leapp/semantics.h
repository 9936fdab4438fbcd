// Semantics of a port beyond shape and type: the part of TensorSemantics that is written to the
// bundle.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "leapp/metadata.h"

namespace leapp {

/// Marks a dimension along time steps, which are `period_ms` apart.
struct TemporalAxis {
  double period_ms = 0;
  bool operator==(const TemporalAxis&) const = default;
};

/// Names of the elements along each dimension: none, a time axis, or one name per element.
using ElementNames =
    std::vector<std::variant<std::monostate, TemporalAxis, std::vector<std::string>>>;

struct Semantics {
  std::optional<std::string> kind;            ///< "state/joint/position", ..
  std::optional<ElementNames> element_names;  ///< one entry per dimension
  Metadata::Map extra;                        ///< additional keys of the port's YAML mapping

  bool operator==(const Semantics&) const = default;
};

}  // namespace leapp
