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

/// The bytes of one regular file. A small file is read, a large one is mapped. require_unchanged()
/// then detects a program that writes to the file; a program that truncates it ends this process,
/// as for every mapped file. Exports do neither: they replace files.
class LEAPP_EXPORT FileBytes {
 public:
  /// Throws Error: kNotFound or kIo.
  explicit FileBytes(const std::filesystem::path& path);

  /// Maps a file of any size, so that it uses no extra memory. For files that no other process uses
  /// yet. Throws like the constructor.
  static FileBytes mapped(const std::filesystem::path& path);

  const std::filesystem::path& path() const noexcept { return path_; }
  std::span<const std::byte> bytes() const noexcept { return {data_.get(), size_}; }

  /// Throws Error(kIo) if the file was written to since it was opened.
  void require_unchanged() const;

 private:
  class Descriptor;

  FileBytes(const std::filesystem::path& path, std::size_t largest_read);

  std::filesystem::path path_;
  std::shared_ptr<const std::byte> data_;
  std::size_t size_ = 0;
  std::shared_ptr<const Descriptor> mapped_;  // null if the file was read
  std::chrono::nanoseconds written_{0};
};

/// All files of one version of a bundle, by their paths in the YAML.
class LEAPP_EXPORT VerifiedFiles {
 public:
  /// Reads the files and recomputes their checksums. Throws like verify_files().
  VerifiedFiles(const Bundle& bundle, const std::filesystem::path& folder,
                const BundleOptions& options);

  const FileBytes& at(const std::string& path) const { return files_.at(path); }

  std::size_t byte_size() const noexcept;

  /// Throws if one of the files has changed.
  void require_unchanged() const;

 private:
  std::unordered_map<std::string, FileBytes> files_;
};

/// Returns the entry of a file in the YAML: its path and its checksums.
LEAPP_EXPORT FileEntry entry_of(const std::filesystem::path& file);

/// Returns the golden traces of a bundle that has some, and no other file. Throws like
/// verify_files().
LEAPP_EXPORT FileBytes read_golden_file(const Bundle& bundle, const BundleOptions& options);

}  // namespace leapp
