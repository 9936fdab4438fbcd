#include "base/hash.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <future>
#include <initializer_list>
#include <vector>

#include "base/check.h"

namespace leapp {
namespace {

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
      throw Error(Code::kIo, name_ + ": the file could not be read: " + std::strerror(errno));
    }
  }

  std::string name_;
  int descriptor_;
};

void feed(const std::filesystem::path& path, std::initializer_list<Digest*> digests) {
  const ReadOnlyFile file(path);
  std::vector<char> buffer(std::size_t{256} << 10);
  while (const std::size_t count = file.read(buffer)) {
    for (Digest* digest : digests) digest->update({buffer.data(), count});
  }
}

}  // namespace

Digest::Digest(Kind kind) : kind_(kind), context_(EVP_MD_CTX_new()) {
  const EVP_MD* algorithm = kind == Kind::kMd5 ? EVP_md5() : EVP_sha256();
  usable_ = context_ != nullptr && EVP_DigestInit_ex(context_, algorithm, nullptr) == 1;
}

Digest::~Digest() {
  EVP_MD_CTX_free(context_);
}

void Digest::update(std::string_view bytes) {
  if (usable_) usable_ = EVP_DigestUpdate(context_, bytes.data(), bytes.size()) == 1;
}

std::string Digest::finish() {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  usable_ = usable_ && EVP_DigestFinal_ex(context_, bytes, &size) == 1;
  demand(usable_ || kind_ == Kind::kMd5, "OpenSSL has no SHA256");
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += kDigits[bytes[i] >> 4];
    hex += kDigits[bytes[i] & 15];
  }
  return hex;
}

Checksums hash_bytes(std::string_view bytes) {
  Digest md5(Digest::Kind::kMd5);
  Digest sha256(Digest::Kind::kSha256);
  md5.update(bytes);
  sha256.update(bytes);
  return {md5.finish(), sha256.finish()};
}

Checksums hash_file(const std::filesystem::path& path) {
  Digest md5(Digest::Kind::kMd5);
  Digest sha256(Digest::Kind::kSha256);
  std::error_code unknown;
  if (std::filesystem::file_size(path, unknown) < kWorthAThread || unknown) {
    feed(path, {&md5, &sha256});
  } else {
    std::future<void> slower = std::async(std::launch::async, [&] { feed(path, {&md5}); });
    feed(path, {&sha256});
    slower.get();
  }
  return {md5.finish(), sha256.finish()};
}

std::string sha256_file(const std::filesystem::path& path) {
  Digest sha256(Digest::Kind::kSha256);
  feed(path, {&sha256});
  return sha256.finish();
}

}  // namespace leapp
