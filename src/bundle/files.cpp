// The files a bundle names: where they are, and whether they are still what was exported.
#include <algorithm>
#include <utility>
#include <vector>

#include "bundle/hash.h"
#include "bundle/rules.h"
#include "bundle/utf8.h"
#include "leapp/bundle.h"

namespace leapp {
namespace {

namespace fs = std::filesystem;

/// Whether `file` lies in `folder` or below; both are free of links and dots.
bool is_inside(const fs::path& file, const fs::path& folder) {
  const auto [end, at] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return end == folder.end() && at != file.end();
}

/// Every file with the words that say what it is.
std::vector<std::pair<std::string, const FileEntry*>> list_files(const Bundle& bundle) {
  std::vector<std::pair<std::string, const FileEntry*>> files;
  for (const Model& model : bundle.models) {
    if (model.file)
      files.emplace_back("the model of " + quote_for_message(model.name), &*model.file);
    for (const FileEntry& data : model.external_data) {
      files.emplace_back("external data of " + quote_for_message(model.name), &data);
    }
  }
  if (bundle.pipeline.initial_values) {
    files.emplace_back("the initial values", &*bundle.pipeline.initial_values);
  }
  return files;
}

}  // namespace

std::filesystem::path resolve_file(const std::filesystem::path& folder, const std::string& path,
                                   const BundleOptions& options) {
  if (const std::string fault = find_path_fault(path, options); !fault.empty()) {  // B14
    throw Error(ErrorKind::kValue, "[B14] " + fault);
  }
  const fs::path base = folder.empty() ? fs::path(".") : folder;
  std::error_code error;
  const fs::path resolved = fs::canonical(base / path, error);
  if (error || !fs::exists(resolved, error)) {
    throw Error(ErrorKind::kNotFound, (base / path).string() +
                                          ": the file was not found; a bundle is only complete "
                                          "with all files its YAML names");
  }
  if (!options.allow_outside_files && !is_inside(resolved, fs::canonical(base))) {  // B14
    throw Error(ErrorKind::kValue,
                "[B14] " + quote_for_message(path) +
                    " leaves the bundle's folder through a link, to " +
                    quote_for_message(resolved.string()) +
                    "; copy the file into the folder, or allow outside files if you trust this "
                    "bundle");
  }
  if (!fs::is_regular_file(resolved, error)) {  // B14
    throw Error(ErrorKind::kValue,
                "[B14] " + quote_for_message((base / path).string()) + " is not a regular file");
  }
  return resolved;
}

void verify_files(const Bundle& bundle, const std::filesystem::path& folder,
                  const BundleOptions& options) {
  for (const auto& [what, entry] : list_files(bundle)) {
    const fs::path file = resolve_file(folder, entry->path, options);
    if (entry->sha256sum.empty()) continue;
    const std::string found = sha256_file(file);
    if (found != entry->sha256sum) {  // B21
      throw Error(ErrorKind::kValue,
                  "[B21] SHA256 checksum mismatch for " + what + ", " + file.string() +
                      ": expected " + entry->sha256sum + ", found " + found +
                      "; the file was changed or damaged after the export: export again");
    }
  }
}

void verify_files(const Bundle& bundle, const BundleOptions& options) {
  verify_files(bundle, bundle.file.parent_path(), options);
}

}  // namespace leapp
