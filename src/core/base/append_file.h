// A file that grows while a robot runs: a recording, a timeline. It reports every failure and
// throws none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "leapp/visibility.h"

namespace leapp {

/// A file to append to. append() has passed the data to the operating system when it returns. After
/// the first failure the file is truncated to the last complete record and accepts nothing more.
/// Not copyable; for one thread.
class LEAPP_EXPORT AppendFile {
 public:
  /// Creates or empties the file. error() reports a failure.
  explicit AppendFile(const std::filesystem::path& path) noexcept;
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  /// Returns false if the bytes, or earlier ones, could not be written.
  bool append(std::string_view bytes) noexcept;

  /// Closes the file. Returns the first error, or no error.
  std::error_code close() noexcept;

  /// Returns the number of bytes in the file.
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
