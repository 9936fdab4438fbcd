// A file with every logged line, whatever the console shows.
#pragma once

#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>

#include "base/log.h"
#include "leapp/visibility.h"

namespace leapp {

/// Thread-safe. Warnings and errors are in the file when write() returns, so a crash loses none.
/// Other lines are in the file after flush() or at the end of the program. After the file is open,
/// write failures are ignored.
///
/// Replaces an older file when the first lines are written, not earlier: replacing takes longer
/// than everything else at the start, and fills the processor's caches.
class LEAPP_EXPORT LogFile {
 public:
  ~LogFile() { flush(); }
  /// Returns why the file cannot be written, and keeps the previous file. No error if it can be
  /// written.
  [[nodiscard]] std::error_code open(const std::filesystem::path& path);
  void write(LogLevel level, std::string_view text);
  void flush();

 private:
  void write_pending();

  std::mutex mutex_;
  std::ofstream file_;
  std::string pending_;
  std::filesystem::path path_;
};

}  // namespace leapp
