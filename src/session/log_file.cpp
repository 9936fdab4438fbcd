#include "session/log_file.h"

#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace leapp::session {

void LogFile::open(const std::filesystem::path& path) {
  const std::lock_guard lock(mutex_);
  file_.reset(std::fopen(path.c_str(), "w"));
  require(file_ != nullptr, ErrorKind::kIo,
          "the log " + path.string() + " cannot be written: " + std::strerror(errno) +
              ". Give leapp.start() a save_path you may write to.");
  path_ = path;
}

void LogFile::write(LogLevel level, std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (!file_) return;
  const std::string_view name = name_of(level);
  std::fprintf(file_.get(), "[%.*s]: %.*s\n", static_cast<int>(name.size()), name.data(),
               static_cast<int>(text.size()), text.data());
  if (level >= LogLevel::kWarning) std::fflush(file_.get());
}

void LogFile::flush() {
  const std::lock_guard lock(mutex_);
  if (file_) std::fflush(file_.get());
}

}  // namespace leapp::session
