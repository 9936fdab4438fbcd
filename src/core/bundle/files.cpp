// The files that a bundle names: their paths, and a check that they are unchanged since the export.
#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/utf8.h"
#include "bundle/field_location.h"
#include "bundle/rules.h"
#include "bundle/verified_files.h"
#include "leapp/bundle.h"

namespace leapp {
namespace {

namespace fs = std::filesystem;

/// Returns whether `file` is in `folder` or below; both are without links and dots.
bool is_inside(const fs::path& file, const fs::path& folder) {
  const auto [end, at] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return end == folder.end() && at != file.end();
}

/// A file of the bundle, its name for messages, and the fields that refer to it.
struct NamedFile {
  std::string what;
  const FileEntry* entry;
  FieldPath path_field;
  FieldPath checksum_field;
};

std::vector<NamedFile> list_files(const Bundle& bundle) {
  std::vector<NamedFile> files;
  for (const Model& model : bundle.models) {
    const FieldPath parameters = {"models", model.name, "parameters"};
    const auto field = [&](std::initializer_list<FieldPath::value_type> steps) {
      FieldPath path = parameters;
      path.insert(path.end(), steps);
      return path;
    };
    if (model.file) {
      files.push_back({"the model of " + quote_for_message(model.name), &*model.file,
                       field({"model_path"}), field({"sha256sum"})});
    }
    for (std::size_t i = 0; i < model.external_data.size(); ++i) {
      files.push_back({"external data of " + quote_for_message(model.name), &model.external_data[i],
                       field({"external_data", i, "path"}),
                       field({"external_data", i, "sha256sum"})});
    }
  }
  if (bundle.pipeline.initial_values) {
    files.push_back({"the initial values",
                     &*bundle.pipeline.initial_values,
                     {"pipeline", "initial_values"},
                     {"pipeline", "initial_values_sha256sum"}});
  }
  if (bundle.pipeline.golden) {
    files.push_back({"the golden traces",
                     &*bundle.pipeline.golden,
                     {"pipeline", "golden"},
                     {"pipeline", "golden_sha256sum"}});
  }
  return files;
}

// The beginning of the placeholder for a large file in a clone without Git LFS.
bool is_lfs_pointer(std::string_view bytes) {
  return bytes.starts_with("version https://git-lfs");
}

fs::path locate_file(const Bundle& bundle, const NamedFile& file, const fs::path& folder,
                     const BundleOptions& options) {
  try {
    return resolve_file(folder, file.entry->path, options);
  } catch (const Error& error) {
    throw error.behind(locate_field(bundle.file, file.path_field));
  }
}

void verify_bytes(const Bundle& bundle, const NamedFile& file, const FileBytes& bytes) {  // B21
  if (file.entry->sha256sum.empty()) return;  // initial values of other writers
  const std::string_view text(reinterpret_cast<const char*>(bytes.bytes().data()),
                              bytes.bytes().size());
  Digest sha256(Digest::Kind::kSha256);
  sha256.update(text);
  const std::string found = sha256.finish();
  if (found == file.entry->sha256sum) return;
  throw Error(
      rule(21),
      locate_field(bundle.file, file.checksum_field) + "[B21] SHA256 checksum mismatch for " +
          file.what + ", " + bytes.path().string() + ": expected " + file.entry->sha256sum +
          ", found " + found +
          (is_lfs_pointer(text)
               ? "; this is a pointer of Git LFS, not the file: run 'git lfs pull'"
               : "; the file was changed or damaged after the export. Export the bundle again"));
}

}  // namespace

std::filesystem::path resolve_file(const std::filesystem::path& folder, const std::string& path,
                                   const BundleOptions& options) {
  if (const std::string fault = find_path_fault(path, options); !fault.empty()) {  // B14
    throw Error(rule(14), "[B14] " + fault);
  }
  const fs::path base = folder.empty() ? fs::path(".") : folder;
  // Each question to the file system is asked once, because an export may remove the directory
  // between two of them.
  std::error_code error;
  const fs::path home = fs::canonical(base, error);
  const fs::path resolved = error ? fs::path() : fs::canonical(home / path, error);
  if (error) {
    throw Error(Code::kNotFound,
                (base / path).string() +
                    ": the file was not found. Copy every file that the bundle's YAML names");
  }
  if (!options.allow_outside_files && !is_inside(resolved, home)) {  // B14
    throw Error(
        rule(14),
        "[B14] " + quote_for_message(path) +
            " leads out of the bundle's directory through a link to " +
            quote_for_message(resolved.string()) +
            "; copy the file into the directory, or allow outside files if you trust this bundle");
  }
  if (!fs::is_regular_file(resolved, error)) {  // B14
    throw Error(rule(14),
                "[B14] " + quote_for_message((base / path).string()) + " is not a regular file");
  }
  return resolved;
}

VerifiedFiles::VerifiedFiles(const Bundle& bundle, const std::filesystem::path& folder,
                             const BundleOptions& options) {
  for (const NamedFile& file : list_files(bundle)) {
    const fs::path path = locate_file(bundle, file, folder, options);
    verify_bytes(bundle, file, files_.try_emplace(file.entry->path, path).first->second);
  }
}

FileBytes read_golden_file(const Bundle& bundle, const BundleOptions& options) {
  const NamedFile golden = list_files(bundle).back();  // which is listed last
  FileBytes bytes(locate_file(bundle, golden, bundle.file.parent_path(), options));
  verify_bytes(bundle, golden, bytes);
  return bytes;
}

void verify_files(const Bundle& bundle, const std::filesystem::path& folder,
                  const BundleOptions& options) {
  VerifiedFiles(bundle, folder, options);
}

void verify_files(const Bundle& bundle, const BundleOptions& options) {
  verify_files(bundle, bundle.file.parent_path(), options);
}

}  // namespace leapp
