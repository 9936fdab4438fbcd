// The files of the previous export in a directory.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "leapp/visibility.h"

namespace leapp {

/// Returns the files that `{name}.yaml` names, relative to `folder`: models, their external data,
/// initial values, golden traces. Never fails: an unreadable YAML gives an empty set.
LEAPP_EXPORT std::set<std::filesystem::path> list_named_files(const std::filesystem::path& folder,
                                                              const std::string& name);

/// Returns these files and all files that exports write: {name}.yaml, {name}.png, {name}.svg,
/// {name}_initial_values.safetensors, {name}_golden.safetensors and validation.json.
LEAPP_EXPORT std::set<std::filesystem::path> list_export_files(const std::filesystem::path& folder,
                                                               const std::string& name);

}  // namespace leapp
