// The record of a build, walker.native.json: a library is loaded only if it was built from the
// current bundle.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

struct NativeRecord {
  std::string library;  ///< the file's name, in the directory of the record
  std::string sha256;   ///< checksum of the library
  std::string compiler;
  std::string target;
  std::vector<std::string> flags;
  /// For each node, the sha256 of its source and of its weights (empty if it has none).
  std::map<std::string, std::pair<std::string, std::string>> nodes;
};

/// Returns the path of the record: "walker.native.json" for "walker.yaml".
LEAPP_EXPORT std::filesystem::path native_record_file(const std::filesystem::path& yaml);

/// Throws Error: kNotBuilt if there is no file, kStaleBuild if it cannot be read.
NativeRecord read_native_record(const std::filesystem::path& file);

LEAPP_EXPORT std::string to_json(const NativeRecord& record);

/// Returns the checksums of a node in the record.
LEAPP_EXPORT std::pair<std::string, std::string> native_checksums(const Model& model);

/// Throws Error(kStaleBuild) unless the library contains that node as it is in the bundle.
void check_native_record(const NativeRecord& record, const std::filesystem::path& file,
                         const Model& model);

}  // namespace leapp
