#include "base/log_file.h"

#include <cerrno>

namespace leapp {
namespace {

// Lines below the level of warnings are buffered up to this size.
constexpr std::size_t kMostPending = 1 << 16;

}  // namespace

std::error_code LogFile::open(const std::filesystem::path& path) {
  if (!std::ofstream(path, std::ios::app).is_open()) return {errno, std::generic_category()};
  const std::lock_guard lock(mutex_);
  write_pending();
  file_.close();
  path_ = path;
  return {};
}

void LogFile::write(LogLevel level, std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (path_.empty()) return;
  pending_.append("[").append(name_of(level)).append("]: ").append(text).append("\n");
  if (level >= LogLevel::kWarning || pending_.size() > kMostPending) write_pending();
}

void LogFile::flush() {
  const std::lock_guard lock(mutex_);
  write_pending();
}

void LogFile::write_pending() {
  if (pending_.empty()) return;
  if (!file_.is_open()) {
    // Replaces the file instead of emptying it: ext4 writes an emptied file to disk when it is
    // closed.
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
    file_.open(path_);
  }
  file_.clear();  // an earlier failure
  file_ << pending_ << std::flush;
  pending_.clear();
}

}  // namespace leapp
