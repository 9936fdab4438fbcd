// log.txt: everything a session says, whatever the console shows.
#pragma once

#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <string_view>

#include "base/log.h"

namespace leapp::session {

/// Thread-safe. Warnings and errors are in the file when write() returns, so that a crash loses
/// none; other lines at the latest at flush() or when the program ends. A file that cannot be
/// written is an Error(kIo) from open(); once open, failures to write are ignored.
///
/// An older file is replaced with the first lines that go into the new one: that takes longer than
/// all else that start() does, and leaves the processor's caches to the file system.
class LogFile {
 public:
  ~LogFile() { flush(); }
  void open(const std::filesystem::path& path);
  void write(LogLevel level, std::string_view text);
  void flush();

 private:
  void write_pending();

  std::mutex mutex_;
  std::ofstream file_;
  std::string pending_;
  std::filesystem::path path_;
};

}  // namespace leapp::session
