// Reports about a bundle that a page shows: of validation, and of `leapp bench`.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "leapp/bundle.h"

namespace leapp::view {

/// validation.json, where it lies beside the bundle and speaks of this very one (B34); else null.
nlohmann::ordered_json validation_report(const Bundle& bundle);

/// What `leapp bench --json` printed into a file; null for an empty path. Throws Error: kNotFound,
/// or LP961 for what is no such report.
nlohmann::ordered_json bench_report(const std::filesystem::path& file);

}  // namespace leapp::view
