// Reports about a bundle that a page shows: of validation, and of `leapp bench`.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "leapp/bundle.h"

namespace leapp::view {

/// Returns validation.json if it is next to the bundle and belongs to it (B34); otherwise null.
nlohmann::ordered_json validation_report(const Bundle& bundle);

/// Reads a report of `leapp bench --json`; returns null for an empty path. Throws Error: kNotFound,
/// or LP961 if the file is not such a report.
nlohmann::ordered_json bench_report(const std::filesystem::path& file);

}  // namespace leapp::view
