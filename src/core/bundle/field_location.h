// From a field of a bundle back to the line it stands on.
#pragma once

#include <filesystem>
#include <string>

#include "bundle/rule_reporter.h"
#include "bundle/yaml_tree.h"

namespace leapp {

/// The node at `path`, or the deepest one on the way that is there.
const YamlNode& find_node(const YamlNode& root, const FieldPath& path);

/// "walker.yaml:12:7: " for a field of that file, which is read once more for it: for messages
/// only. As much of it as can be found out; empty when `yaml` is.
std::string locate_field(const std::filesystem::path& yaml, const FieldPath& path);

}  // namespace leapp
