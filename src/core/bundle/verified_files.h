// The files of a bundle, each opened once: the verified bytes are the loaded ones.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

/// The bytes of one regular file. A small file is read, a large one mapped: then another program
/// that writes into it is noticed by require_unchanged(), and one that cuts it short ends this
/// process, as it does for every mapped file. Exports never do either, they replace files.
class LEAPP_EXPORT FileBytes {
 public:
  /// Throws Error: kNotFound or kIo.
  explicit FileBytes(const std::filesystem::path& path);

  /// Maps a file of any size, so that it takes no memory of its own: for files that no other
  /// process uses yet. Throws like the constructor.
  static FileBytes mapped(const std::filesystem::path& path);

  const std::filesystem::path& path() const noexcept { return path_; }
  std::span<const std::byte> bytes() const noexcept { return {data_.get(), size_}; }

  /// Throws Error(kIo) when the file was written to since it was opened.
  void require_unchanged() const;

 private:
  class Descriptor;

  FileBytes(const std::filesystem::path& path, std::size_t largest_read);

  std::filesystem::path path_;
  std::shared_ptr<const std::byte> data_;
  std::size_t size_ = 0;
  std::shared_ptr<const Descriptor> mapped_;  // null where the file was read
  std::chrono::nanoseconds written_{0};
};

/// All files of one version of a bundle, by the paths that its YAML has for them.
class LEAPP_EXPORT VerifiedFiles {
 public:
  /// Reads them and recomputes their checksums. Throws as verify_files() does.
  VerifiedFiles(const Bundle& bundle, const std::filesystem::path& folder,
                const BundleOptions& options);

  const FileBytes& at(const std::string& path) const { return files_.at(path); }

  std::size_t byte_size() const noexcept;

  /// Throws if one of the files has changed.
  void require_unchanged() const;

 private:
  std::unordered_map<std::string, FileBytes> files_;
};

/// Returns the entry of a file in the YAML: its name and its checksums.
LEAPP_EXPORT FileEntry entry_of(const std::filesystem::path& file);

/// Returns the golden traces of a bundle that has some, and no other file of it. Throws as
/// verify_files().
LEAPP_EXPORT FileBytes read_golden_file(const Bundle& bundle, const BundleOptions& options);

}  // namespace leapp
