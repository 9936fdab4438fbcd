#include "base/hash.h"

#include <algorithm>
#include <cstdint>
#include <future>
#include <initializer_list>
#include <system_error>
#include <vector>

#include "base/input_file.h"
#include "base/md5.h"
#include "base/sha256.h"

namespace leapp {
namespace {

void feed(const std::filesystem::path& path, std::initializer_list<Digest*> digests) {
  InputFile file(path);
  std::vector<char> buffer(std::size_t{256} << 10);
  while (const std::size_t count = file.read(buffer)) {
    for (Digest* digest : digests) digest->update({buffer.data(), count});
  }
}

// Runs the work in a separate thread, or in this one if the system cannot create a thread.
template <typename Work>
std::future<void> async_or_now(Work work) {
  try {
    return std::async(std::launch::async, work);
  } catch (const std::system_error&) {
    return std::async(std::launch::deferred, work);
  }
}

}  // namespace

Digest::Digest(Kind kind) : kind_(kind) {
  if (kind == Kind::kMd5) {
    std::ranges::copy(kMd5Start, state_.begin());
  } else {
    state_ = kSha256Start;
  }
}

void Digest::take(const unsigned char* bytes, std::size_t blocks) {
  static const Sha256Blocks native = sha256_blocks_native();
  static const Sha256Blocks sha256 = native != nullptr ? native : sha256_blocks_plain;
  (kind_ == Kind::kMd5 ? md5_blocks : sha256)(state_.data(), bytes, blocks);
}

void Digest::update(std::string_view bytes) {
  const std::size_t held = size_ % rest_.size();
  size_ += bytes.size();
  if (held > 0) {
    const std::size_t taken = std::min(bytes.size(), rest_.size() - held);
    std::copy_n(bytes.begin(), taken, rest_.begin() + held);
    bytes.remove_prefix(taken);
    if (held + taken < rest_.size()) return;
    take(rest_.data(), 1);
  }
  const std::size_t blocks = bytes.size() / rest_.size();
  take(reinterpret_cast<const unsigned char*>(bytes.data()), blocks);
  bytes.remove_prefix(blocks * rest_.size());
  std::ranges::copy(bytes, rest_.begin());
}

std::string Digest::finish() {
  // A one bit, zeros to the end of a block, and then the number of bits; MD5 stores its lowest byte
  // first.
  const std::uint64_t bits = size_ * 8;
  const bool big_endian = kind_ == Kind::kSha256;
  std::string padding(1, '\x80');
  padding.resize(1 + (119 - size_ % 64) % 64);
  for (unsigned i = 0; i < 8; ++i) {
    padding += static_cast<char>(bits >> 8 * (big_endian ? 7 - i : i));
  }
  update(padding);

  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (std::size_t word = 0; word < (big_endian ? 8u : 4u); ++word) {
    for (unsigned i = 0; i < 4; ++i) {
      const std::uint32_t byte = state_[word] >> 8 * (big_endian ? 3 - i : i);
      hex += kDigits[byte >> 4 & 15];
      hex += kDigits[byte & 15];
    }
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
    std::future<void> slower = async_or_now([&] { feed(path, {&md5}); });
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
