// The sizes of all observation terms, and their check against the model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "import/deployment.h"
#include "import/fields.h"
#include "leapp/bundle.h"

namespace leapp::importing {

/// The key of the setting with the size of each term.
inline constexpr const char* kSizesKey = "observation_sizes";

/// Finds the unknown sizes: from the setting or, if only one is missing, from the rest of the
/// observation. Then checks that the terms fill the observation, that scales have one value or one
/// for each element, and that the frames are valid. Throws LP822, LP823 or LP824.
void settle_terms(Deployment& deployment, const Fields& fields, const Port& observation);

/// Returns the ages of a whole history, the oldest frame first. Throws LP823 for an invalid length.
std::vector<std::int64_t> oldest_first(const Fields& fields, const std::string& key, double length);

/// Returns 0, 1, .., count - 1.
std::vector<std::int64_t> all_of(std::size_t count);

/// Throws LP823 for a duplicate name.
void check_unique(const Fields& fields, const std::string& key,
                  const std::vector<std::string>& names);

/// Elements of a port.
std::int64_t size_of_port(const Port& port);

}  // namespace leapp::importing
