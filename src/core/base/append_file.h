// A file that grows while a robot runs: a recording, a timeline. Every failure is seen, none
// throws.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "leapp/visibility.h"

namespace leapp {

/// A file to append to. Data is with the operating system when append() returns. After the first
/// failure the file is truncated to the last complete record and accepts nothing more. Not
/// copyable; for one thread.
class LEAPP_EXPORT AppendFile {
 public:
  /// Makes the file, or empties it. error() says if that failed.
  explicit AppendFile(const std::filesystem::path& path) noexcept;
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  /// Returns false if the bytes could not be written, now or before.
  bool append(std::string_view bytes) noexcept;

  /// Closes the file. Returns what went wrong with it, if anything.
  std::error_code close() noexcept;

  /// Returns how many bytes are in the file.
  std::uint64_t size() const noexcept { return size_; }
  /// Returns the first error, or no error.
  std::error_code error() const noexcept { return error_; }

 private:
  void fail(int code) noexcept;

  int descriptor_;
  std::uint64_t size_ = 0;
  std::error_code error_;
};

}  // namespace leapp
