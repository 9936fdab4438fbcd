#include "view/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>

namespace leapp::view {
namespace {

constexpr std::uint64_t kEndSignature = 0x06054b50;
constexpr std::uint64_t kEntrySignature = 0x02014b50;
constexpr std::uint64_t kLocalSignature = 0x04034b50;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kEntryBytes = 46;
constexpr std::size_t kLocalBytes = 30;
constexpr std::size_t kMostComment = 65535;

// Reads a little-endian number. Returns 0 past the end, which is not a valid signature.
std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t width) {
  if (at > bytes.size() || bytes.size() - at < width) return 0;
  std::uint64_t value = 0;
  for (std::size_t i = width; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return value;
}

// Returns the offset of the end-of-archive record, which a comment may follow.
std::optional<std::size_t> find_end(std::string_view bytes) {
  if (bytes.size() < kEndBytes) return std::nullopt;
  const std::size_t last = bytes.size() - kEndBytes;
  for (std::size_t back = 0; back <= std::min(last, kMostComment); ++back) {
    if (number(bytes, last - back, 4) == kEndSignature) return last - back;
  }
  return std::nullopt;
}

// The bytes of an entry whose own header is at `offset`.
std::optional<std::string_view> content(std::string_view bytes, std::size_t offset,
                                        std::size_t size) {
  if (number(bytes, offset, 4) != kLocalSignature) return std::nullopt;
  const std::size_t begin =
      offset + kLocalBytes + number(bytes, offset + 26, 2) + number(bytes, offset + 28, 2);
  if (begin > bytes.size() || bytes.size() - begin < size) return std::nullopt;
  return bytes.substr(begin, size);
}

constexpr std::size_t kMostInflated = std::size_t{16} << 20;
constexpr std::uint64_t kStored = 0, kDeflated = 8;

// Returns the decompressed bytes, or null if they are corrupt or exceed `budget`, the bytes that
// the archive may still use.
std::shared_ptr<const std::string> inflate_bytes(std::string_view bytes, std::size_t size,
                                                 std::size_t& budget) {
  if (size > budget) return nullptr;
  budget -= size;
  std::string text(size, '\0');
  z_stream stream{};
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) return nullptr;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // only read
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  const int ended = ::inflate(&stream, Z_FINISH);
  ::inflateEnd(&stream);
  if (ended != Z_STREAM_END || stream.avail_out != 0) return nullptr;
  return std::make_shared<const std::string>(std::move(text));
}

}  // namespace

std::optional<std::vector<ZipEntry>> read_zip(std::string_view bytes) {
  const std::optional<std::size_t> end = find_end(bytes);
  if (!end) return std::nullopt;
  const std::uint64_t count = number(bytes, *end + 10, 2);
  std::size_t at = number(bytes, *end + 16, 4);
  std::size_t budget = kMostInflated;
  std::vector<ZipEntry> entries;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (number(bytes, at, 4) != kEntrySignature) return std::nullopt;
    const std::size_t name_size = number(bytes, at + 28, 2);
    if (bytes.size() - at < kEntryBytes + name_size) return std::nullopt;
    ZipEntry entry;
    entry.name = bytes.substr(at + kEntryBytes, name_size);
    const auto found = content(bytes, number(bytes, at + 42, 4), number(bytes, at + 20, 4));
    if (!found) return std::nullopt;
    const std::uint64_t method = number(bytes, at + 10, 2);
    if (method == kStored) entry.bytes = *found;
    if (method == kDeflated)
      entry.inflated = inflate_bytes(*found, number(bytes, at + 24, 4), budget);
    if (entry.inflated) entry.bytes = *entry.inflated;
    entries.push_back(std::move(entry));
    at += kEntryBytes + name_size + number(bytes, at + 30, 2) + number(bytes, at + 32, 2);
  }
  return entries;
}

}  // namespace leapp::view
