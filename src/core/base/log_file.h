// A file for every line that is logged, whatever the console shows.
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

/// Thread-safe. Warnings and errors are in the file when write() returns, so that a crash loses
/// none; other lines at the latest at flush() or when the program ends. Once it is open, failures
/// to write are ignored.
///
/// An older file is replaced with the first lines that go into the new one: that takes longer than
/// all else that begins with it, and leaves the processor's caches to the file system.
class LEAPP_EXPORT LogFile {
 public:
  ~LogFile() { flush(); }
  /// Returns why the file cannot be written, and stays with the former one; no error where it can.
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
