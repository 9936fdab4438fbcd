// Checksums of files, as bundles state them.
#pragma once

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

/// Checksums of bytes in memory.
LEAPP_EXPORT Checksums hash_bytes(std::string_view bytes);

/// Checksums of a file, read once in pieces. Throws Error(kIo) when it cannot be read.
LEAPP_EXPORT Checksums hash_file(const std::filesystem::path& path);

/// The sha256 alone, at a third of the cost.
LEAPP_EXPORT std::string sha256_file(const std::filesystem::path& path);

}  // namespace leapp
