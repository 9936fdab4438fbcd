// Regular files, opened for reading. Opening a pipe or a device instead would wait for its other
// end, or never end: such a file is refused.
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

  /// Its size when it was opened.
  std::uint64_t size() const noexcept { return size_; }

  /// Reads until `bytes` is full or the file ends. Returns how many were read. Throws Error(kIo).
  std::size_t read(std::span<char> bytes);

 private:
  std::string name_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

/// Returns a whole file. Throws as InputFile does, and Error(kIo) for one of more than `most`
/// bytes; the message calls it "a file of this kind".
LEAPP_EXPORT std::string read_file(const std::filesystem::path& path, std::uint64_t most);

}  // namespace leapp
