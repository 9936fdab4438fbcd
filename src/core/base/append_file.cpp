#include "base/append_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace leapp {

AppendFile::AppendFile(const std::filesystem::path& path) noexcept
    : descriptor_(::open(path.c_str(),
                         O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666)) {
  if (descriptor_ < 0) error_ = {errno, std::generic_category()};
}

AppendFile::~AppendFile() {
  close();
}

bool AppendFile::append(std::string_view bytes) noexcept {
  if (error_) return false;
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      fail(count == 0 ? EIO : errno);
      return false;
    }
    done += static_cast<std::size_t>(count);
  }
  size_ += bytes.size();
  return true;
}

void AppendFile::fail(int code) noexcept {
  error_ = {code, std::generic_category()};
  // A partly written record is useless, so the file is truncated. A device cannot be truncated and
  // is not changed.
  [[maybe_unused]] const int cut = ::ftruncate(descriptor_, static_cast<off_t>(size_));
}

std::error_code AppendFile::close() noexcept {
  if (descriptor_ >= 0 && ::close(descriptor_) != 0 && !error_) {
    error_ = {errno, std::generic_category()};
  }
  descriptor_ = -1;  // append() fails with EBADF from here on
  return error_;
}

}  // namespace leapp
