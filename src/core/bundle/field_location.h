// From a field of a bundle back to the line it stands on.
#pragma once

#include <filesystem>
#include <string>

#include "bundle/rule_reporter.h"
#include "bundle/yaml_tree.h"

namespace leapp {

/// Returns the node at `path`, or the deepest one on the way that is there.
const YamlNode& find_node(const YamlNode& root, const FieldPath& path);

/// Returns "walker.yaml:12:7: " for a field of that file, which is read again for this. Returns as
/// much as is known; empty if `yaml` is.
std::string locate_field(const std::filesystem::path& yaml, const FieldPath& path);

}  // namespace leapp
