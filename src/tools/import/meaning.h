// What the ports of imported bundles mean: kinds, element names, units and frames.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "import/deployment.h"
#include "leapp/bundle.h"

namespace leapp::importing {

/// A float32 port of shape [1, names] whose last dimension has those names.
Port vector_port(const std::string& name, const std::string& kind,
                 const std::vector<std::string>& names, const std::string& unit = "",
                 const std::string& frame = "");

/// The rotation of a body as w, x, y, z.
Port quaternion_port(const std::string& name, const std::string& frame);

/// A float32 port of which nothing more is known than its name.
Port plain_port(const std::string& name, const Shape& shape);

/// What is known of a term by its name, which most projects share. `size` stays 0 where the name
/// does not say it, and the source is then kGiven.
struct KnownTerm {
  Source source = Source::kGiven;
  std::int64_t size = 0;
};
KnownTerm find_term(const std::string& name, std::int64_t joints, std::int64_t actions);

/// The port of a term that the controller gives.
Port given_port(const Term& term);

}  // namespace leapp::importing
