// Semantics of the ports of imported bundles: kinds, element names, units and frames.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "import/deployment.h"
#include "leapp/bundle.h"

namespace leapp::importing {

/// Returns a float32 port of shape [1, names] whose last dimension has those names.
Port vector_port(const std::string& name, const std::string& kind,
                 const std::vector<std::string>& names, const std::string& unit = "",
                 const std::string& frame = "");

/// Returns the rotation of a body as w, x, y, z.
Port quaternion_port(const std::string& name, const std::string& frame);

/// Returns a float32 port of which only the name is known.
Port plain_port(const std::string& name, const Shape& shape);

/// Facts about a term that its name implies in most projects. `size` is 0 if the name does not
/// imply it, and the source is then kGiven.
struct KnownTerm {
  Source source = Source::kGiven;
  std::int64_t size = 0;
};
KnownTerm find_term(const std::string& name, std::int64_t joints, std::int64_t actions);

/// Returns the port of a term that the controller supplies.
Port given_port(const Term& term);

}  // namespace leapp::importing
