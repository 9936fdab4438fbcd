#include "base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace leapp {
namespace {

[[noreturn]] void fail(const std::string& name, int code) {
  throw Error(code == ENOENT ? Code::kNotFound : Code::kIo,
              code == ENOENT ? name + ": the file was not found"
                             : name + ": the file could not be read: " + std::strerror(code));
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path)
    : name_(path.string()),
      // Does not wait for the other end of a pipe.
      descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
  struct stat status {};
  if (descriptor_ < 0) fail(name_, errno);
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    throw Error(Code::kIo, name_ + ": this is not a regular file");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() {
  ::close(descriptor_);
}

std::size_t InputFile::read(std::span<char> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::read(descriptor_, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(name_, errno);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

std::string read_file(const std::filesystem::path& path, std::uint64_t most) {
  InputFile file(path);
  if (file.size() > most) {
    throw Error(Code::kIo, path.string() + ": the file has " + std::to_string(file.size()) +
                               " bytes; a file of this kind has at most " + std::to_string(most));
  }
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  text.resize(file.read(text));
  return text;
}

}  // namespace leapp
