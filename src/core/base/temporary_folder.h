// A folder of a fresh name that goes, with everything in it, when its owner does.
#pragma once

#include <filesystem>

#include "leapp/visibility.h"

namespace leapp {

/// Not copyable; safe to use from several threads, each with one of its own.
class LEAPP_EXPORT TemporaryFolder {
 public:
  /// Where the system keeps temporary files. Throws Error (kIo) where nothing can be written.
  TemporaryFolder();
  /// In `parent` (empty: the working folder), which is made where it is missing, so that a rename
  /// takes files from here to there. Throws Error (kIo) like the other.
  explicit TemporaryFolder(const std::filesystem::path& parent);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace leapp
