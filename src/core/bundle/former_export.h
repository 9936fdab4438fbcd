// Which files of a folder belong to the export that is already in it.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "leapp/visibility.h"

namespace leapp {

/// Paths, relative to `folder`, of the files its `{name}.yaml` names: models, what they keep beside
/// them, initial values, golden traces. Never fails: of a YAML that cannot be read, nothing is
/// known.
LEAPP_EXPORT std::set<std::filesystem::path> list_named_files(const std::filesystem::path& folder,
                                                              const std::string& name);

/// Those, and the files that exports write: {name}.yaml, {name}.png, {name}.svg,
/// {name}_initial_values.safetensors, {name}_golden.safetensors and validation.json.
LEAPP_EXPORT std::set<std::filesystem::path> list_export_files(const std::filesystem::path& folder,
                                                               const std::string& name);

}  // namespace leapp
