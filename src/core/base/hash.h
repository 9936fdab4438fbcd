// Checksums, as bundles state them for their files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "leapp/visibility.h"

namespace leapp {

/// Both checksums in lower-case hex.
struct Checksums {
  std::string md5;
  std::string sha256;

  bool operator==(const Checksums&) const = default;
};

/// A checksum of bytes that come in pieces. Each object is used by one thread at a time. Allocates
/// nothing before finish().
class LEAPP_EXPORT Digest {
 public:
  enum class Kind { kMd5, kSha256 };

  explicit Digest(Kind kind);

  void update(std::string_view bytes);

  /// Returns lower-case hexadecimal digits. Call once, last. MD5 is only for other tools that
  /// require it.
  std::string finish();

 private:
  void take(const unsigned char* bytes, std::size_t blocks);

  Kind kind_;
  std::array<std::uint32_t, 8> state_{};
  std::array<unsigned char, 64> rest_{};  // bytes of a block that is not full yet
  std::uint64_t size_ = 0;                // of everything so far
};

/// From this many bytes on it pays to have MD5, which takes longer than all the rest of writing a
/// file, in a thread of its own.
inline constexpr std::uint64_t kWorthAThread = std::uint64_t{4} << 20;

/// Checksums of bytes in memory.
LEAPP_EXPORT Checksums hash_bytes(std::string_view bytes);

/// Checksums of a regular file, read once in pieces. Throws Error: kNotFound or kIo.
LEAPP_EXPORT Checksums hash_file(const std::filesystem::path& path);

/// Returns the sha256 alone, at a third of the cost.
LEAPP_EXPORT std::string sha256_file(const std::filesystem::path& path);

}  // namespace leapp
