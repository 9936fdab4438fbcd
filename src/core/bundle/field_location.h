// Finds the line of a field of a bundle.
#pragma once

#include <filesystem>
#include <string>

#include "bundle/rule_reporter.h"
#include "bundle/yaml_tree.h"

namespace leapp {

/// Returns the node at `path`, or the deepest existing node on the way to it.
const YamlNode& find_node(const YamlNode& root, const FieldPath& path);

/// Returns "walker.yaml:12:7: " for a field of that file, which it reads again. Returns the known
/// part of the position; empty if `yaml` is empty.
std::string locate_field(const std::filesystem::path& yaml, const FieldPath& path);

}  // namespace leapp
