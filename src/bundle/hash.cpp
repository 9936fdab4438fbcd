#include "bundle/hash.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <future>
#include <initializer_list>
#include <memory>
#include <vector>

#include "base/check.h"

namespace leapp {
namespace {

/// Files of this size are read by both checksums at once.
constexpr std::uintmax_t kWorthAThread = std::uintmax_t{4} << 20;

/// One running checksum.
class Digest {
 public:
  explicit Digest(const EVP_MD* algorithm) : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    // MD5 is there for tools that still ask for it and guards nothing; a machine whose OpenSSL
    // refuses it (FIPS) still has to export.
    usable_ = context_ && EVP_DigestInit_ex(context_.get(), algorithm, nullptr) == 1;
  }

  void update(const void* bytes, std::size_t size) {
    if (usable_) usable_ = EVP_DigestUpdate(context_.get(), bytes, size) == 1;
  }

  /// Lower-case hex; empty when the algorithm is not to be had.
  std::string finish() {
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    if (!usable_ || EVP_DigestFinal_ex(context_.get(), bytes, &size) != 1) return {};
    constexpr char kDigits[] = "0123456789abcdef";
    std::string hex;
    for (unsigned int i = 0; i < size; ++i) {
      hex += kDigits[bytes[i] >> 4];
      hex += kDigits[bytes[i] & 15];
    }
    return hex;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
  bool usable_ = false;
};

class ReadOnlyFile {
 public:
  explicit ReadOnlyFile(const std::filesystem::path& path)
      : name_(path.string()), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    check(descriptor_ >= 0);
  }
  ~ReadOnlyFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  ReadOnlyFile(const ReadOnlyFile&) = delete;
  ReadOnlyFile& operator=(const ReadOnlyFile&) = delete;

  std::size_t read(std::vector<char>& buffer) const {
    ssize_t count = 0;
    do {
      count = ::read(descriptor_, buffer.data(), buffer.size());
    } while (count < 0 && errno == EINTR);
    check(count >= 0);
    return static_cast<std::size_t>(count);
  }

 private:
  void check(bool ok) const {
    if (!ok) {
      throw Error(ErrorKind::kIo, name_ + ": the file could not be read: " + std::strerror(errno));
    }
  }

  std::string name_;
  int descriptor_;
};

void feed(const std::filesystem::path& path, std::initializer_list<Digest*> digests) {
  const ReadOnlyFile file(path);
  std::vector<char> buffer(std::size_t{256} << 10);
  while (const std::size_t count = file.read(buffer)) {
    for (Digest* digest : digests) digest->update(buffer.data(), count);
  }
}

std::string finish_sha256(Digest& digest) {
  std::string hex = digest.finish();
  demand(!hex.empty(), "OpenSSL has no SHA256");
  return hex;
}

}  // namespace

Checksums hash_bytes(std::string_view bytes) {
  Digest md5(EVP_md5());
  Digest sha256(EVP_sha256());
  md5.update(bytes.data(), bytes.size());
  sha256.update(bytes.data(), bytes.size());
  return {md5.finish(), finish_sha256(sha256)};
}

Checksums hash_file(const std::filesystem::path& path) {
  Digest md5(EVP_md5());
  Digest sha256(EVP_sha256());
  std::error_code unknown;
  if (std::filesystem::file_size(path, unknown) < kWorthAThread || unknown) {
    feed(path, {&md5, &sha256});
  } else {  // MD5 takes longer than all the rest of an export: at least not after the other
    std::future<void> slower = std::async(std::launch::async, [&] { feed(path, {&md5}); });
    feed(path, {&sha256});
    slower.get();
  }
  return {md5.finish(), finish_sha256(sha256)};
}

std::string sha256_file(const std::filesystem::path& path) {
  Digest sha256(EVP_sha256());
  feed(path, {&sha256});
  return finish_sha256(sha256);
}

}  // namespace leapp
