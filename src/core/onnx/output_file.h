// A file that is written from beginning to end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace leapp::onnx {

/// Owns the stream. Every call throws Error(kIo), which names the file, if the system reports an
/// error.
class OutputFile {
 public:
  /// Replaces an existing file.
  explicit OutputFile(std::filesystem::path path);

  void write(std::string_view bytes);
  /// Closes the file. Must be the last call: until then some data may not be written.
  void close();
  std::uint64_t written() const noexcept { return written_; }

 private:
  void check(const char* what) const;

  std::filesystem::path path_;
  std::ofstream stream_;
  std::uint64_t written_ = 0;
};

}  // namespace leapp::onnx
