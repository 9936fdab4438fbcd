// Checksums of files, as written in bundles.
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

/// The checksum of bytes that arrive in pieces. Each object is used by one thread at a time.
/// Allocates nothing before finish().
class LEAPP_EXPORT Digest {
 public:
  enum class Kind { kMd5, kSha256 };

  explicit Digest(Kind kind);

  void update(std::string_view bytes);

  /// Returns lower-case hexadecimal digits. Call it once, as the last call. MD5 is only for other
  /// tools that require it.
  std::string finish();

 private:
  void take(const unsigned char* bytes, std::size_t blocks);

  Kind kind_;
  std::array<std::uint32_t, 8> state_{};
  std::array<unsigned char, 64> rest_{};  // bytes of an incomplete block
  std::uint64_t size_ = 0;                // bytes so far
};

/// From this size on, MD5 runs in a separate thread, because it takes longer than all other steps
/// of writing a file.
inline constexpr std::uint64_t kWorthAThread = std::uint64_t{4} << 20;

/// Returns the checksums of bytes in memory.
LEAPP_EXPORT Checksums hash_bytes(std::string_view bytes);

/// Returns the checksums of a regular file, which it reads once in pieces. Throws Error: kNotFound
/// or kIo.
LEAPP_EXPORT Checksums hash_file(const std::filesystem::path& path);

/// Returns only the sha256, at a third of the cost.
LEAPP_EXPORT std::string sha256_file(const std::filesystem::path& path);

}  // namespace leapp
