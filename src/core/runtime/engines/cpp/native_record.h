// What a library was built of, as walker.native.json has it: what is loaded must be of the bundle
// as it is now.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

struct NativeRecord {
  std::string library;  ///< the file's name, in the folder of the record
  std::string sha256;   ///< of the library
  std::string compiler;
  std::string target;
  std::vector<std::string> flags;
  /// Per node, the sha256 of its source and of its weights (empty: it has none).
  std::map<std::string, std::pair<std::string, std::string>> nodes;
};

/// Returns where a build is written down: "walker.native.json" for "walker.yaml".
LEAPP_EXPORT std::filesystem::path native_record_file(const std::filesystem::path& yaml);

/// Throws Error: kNotBuilt where there is no file, kStaleBuild where it cannot be read.
NativeRecord read_native_record(const std::filesystem::path& file);

LEAPP_EXPORT std::string to_json(const NativeRecord& record);

/// Returns the checksums that a record has for a node.
LEAPP_EXPORT std::pair<std::string, std::string> native_checksums(const Model& model);

/// Throws Error(kStaleBuild) unless the library holds that node as the bundle has it.
void check_native_record(const NativeRecord& record, const std::filesystem::path& file,
                         const Model& model);

}  // namespace leapp
