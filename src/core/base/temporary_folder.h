// A temporary directory that is removed with its content when its owner is destroyed.
#pragma once

#include <filesystem>

#include "leapp/visibility.h"

namespace leapp {

/// Not copyable; several threads may use it if each has its own.
class LEAPP_EXPORT TemporaryFolder {
 public:
  /// Creates a directory where the system keeps temporary files. Throws Error (kIo) if it is not
  /// writable.
  TemporaryFolder();
  /// Creates a directory in `parent` (empty: the working directory), which is created if missing,
  /// so files can be renamed to it. Throws Error (kIo).
  explicit TemporaryFolder(const std::filesystem::path& parent);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace leapp
