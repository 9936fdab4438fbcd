#include "session/log_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace leapp::session {
namespace {

// Lines that nobody needs on the disk yet are kept up to this.
constexpr std::size_t kMostPending = 1 << 16;

}  // namespace

void LogFile::open(const std::filesystem::path& path) {
  const std::lock_guard lock(mutex_);
  write_pending();
  path_.clear();
  file_.reset(std::fopen(path.c_str(), "a"));  // whether it can be written
  require(file_ != nullptr, Code::kIo,
          "the log " + path.string() + " cannot be written: " + std::strerror(errno) +
              ". Give leapp.start() a save_path you may write to.");
  file_.reset();
  path_ = path;
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
  if (!file_) {
    // Not emptied but replaced: on ext4 an emptied file goes to the disk when it is closed.
    ::unlink(path_.c_str());
    file_.reset(std::fopen(path_.c_str(), "w"));
  }
  if (file_) {
    std::fwrite(pending_.data(), 1, pending_.size(), file_.get());
    std::fflush(file_.get());
  }
  pending_.clear();
}

}  // namespace leapp::session
