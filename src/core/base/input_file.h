// Regular files, opened for reading. Pipes and devices are refused: opening one could wait for its
// other end, and reading one might never end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "leapp/visibility.h"

namespace leapp {

/// Not copyable; for one thread.
class LEAPP_EXPORT InputFile {
 public:
  /// Throws Error: kNotFound if there is no such file, kIo if it is not a regular file or cannot be
  /// opened.
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Returns the file's size when it was opened.
  std::uint64_t size() const noexcept { return size_; }

  /// Reads until `bytes` is full or the file ends. Returns the number of bytes read. Throws
  /// Error(kIo).
  std::size_t read(std::span<char> bytes);

 private:
  std::string name_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

/// Returns a whole file. Throws as InputFile does, and Error(kIo) for a file of more than `most`
/// bytes.
LEAPP_EXPORT std::string read_file(const std::filesystem::path& path, std::uint64_t most);

}  // namespace leapp
