#include "bundle/verified_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/hash.h"

namespace leapp {
namespace {

namespace fs = std::filesystem;

// Up to this size a copy costs less than a mapping.
constexpr std::size_t kReadWhole = std::size_t{16} << 20;

[[noreturn]] void fail(const fs::path& path) {
  if (errno == ENOENT) throw Error(Code::kNotFound, path.string() + ": the file was not found");
  throw Error(Code::kIo, path.string() + ": the file could not be read: " + std::strerror(errno));
}

std::shared_ptr<const std::byte> read_whole(int descriptor, std::size_t size,
                                            const fs::path& path) {
  const std::shared_ptr<std::byte[]> bytes(new std::byte[size]);
  for (std::size_t done = 0; done < size;) {
    const ssize_t count = ::read(descriptor, bytes.get() + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path);
    require(count > 0, Code::kIo,
            path.string() + ": the file was truncated while it was being read");
    done += static_cast<std::size_t>(count);
  }
  return {bytes, bytes.get()};
}

std::shared_ptr<const std::byte> map(int descriptor, std::size_t size, const fs::path& path) {
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (memory == MAP_FAILED) fail(path);
  ::madvise(memory, size, MADV_SEQUENTIAL);
  return {static_cast<const std::byte*>(memory),
          [size](const std::byte* bytes) { ::munmap(const_cast<std::byte*>(bytes), size); }};
}

// The time of the last change of the file. Not st_mtim, which any writer can set back.
std::chrono::nanoseconds written_at(const struct stat& status) {
  return std::chrono::seconds(status.st_ctim.tv_sec) +
         std::chrono::nanoseconds(status.st_ctim.tv_nsec);
}

}  // namespace

class FileBytes::Descriptor {
 public:
  // Does not wait for the other end of a pipe.
  explicit Descriptor(const fs::path& path)
      : value_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const noexcept { return value_; }

 private:
  int value_;
};

FileBytes::FileBytes(const fs::path& path) : FileBytes(path, kReadWhole) {}

FileBytes FileBytes::mapped(const fs::path& path) {
  return {path, 0};  // an empty file cannot be mapped
}

FileBytes::FileBytes(const fs::path& path, std::size_t largest_read) : path_(path) {
  const auto file = std::make_shared<const Descriptor>(path);
  struct stat status {};
  if (file->get() < 0 || ::fstat(file->get(), &status) != 0) fail(path);
  require(S_ISREG(status.st_mode), Code::kIo, path.string() + ": this is not a regular file");
  size_ = static_cast<std::size_t>(status.st_size);
  written_ = written_at(status);
  if (size_ > largest_read) mapped_ = file;
  data_ = mapped_ ? map(file->get(), size_, path) : read_whole(file->get(), size_, path);
}

void FileBytes::require_unchanged() const {
  if (!mapped_) return;
  struct stat status {};
  const bool same = ::fstat(mapped_->get(), &status) == 0 && written_at(status) == written_ &&
                    static_cast<std::size_t>(status.st_size) == size_;
  require(same, Code::kIo,
          path_.string() + ": the file changed while it was being loaded. Load the bundle again");
}

std::size_t VerifiedFiles::byte_size() const noexcept {
  std::size_t bytes = 0;
  for (const auto& [path, file] : files_) bytes += file.bytes().size();
  return bytes;
}

void VerifiedFiles::require_unchanged() const {
  for (const auto& [path, file] : files_) file.require_unchanged();
}

FileEntry entry_of(const std::filesystem::path& file) {
  const Checksums sums = hash_file(file);
  return {file.filename().string(), sums.md5, sums.sha256};
}

}  // namespace leapp
