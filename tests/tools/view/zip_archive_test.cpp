// PyTorch's archives: complete, truncated and malformed ones.
#include "view/zip_archive.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include <fstream>
#include <sstream>

namespace leapp::view {
namespace {

std::string bytes_of(const std::string& model) {
  std::ifstream file(std::string(LEAPP_TEST_DATA) + "/models/" + model, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(ZipArchiveTest, HasTheEntriesOfATorchScriptFile) {
  const std::string bytes = bytes_of("affine.pt");
  const auto entries = read_zip(bytes);
  ASSERT_TRUE(entries.has_value());
  std::string code;
  for (const ZipEntry& entry : *entries) {
    if (entry.name.ends_with(".py")) code += entry.bytes;
  }
  EXPECT_THAT(code, testing::HasSubstr("def forward"));
}

TEST(ZipArchiveTest, WhatIsNoArchiveIsNone) {
  EXPECT_FALSE(read_zip("").has_value());
  EXPECT_FALSE(read_zip(bytes_of("affine.onnx")).has_value());
}

// A central directory that lists the same compressed megabyte of zeros `count` times.
std::string archive_of_zeros(std::uint16_t count) {
  const auto number = [](std::uint64_t value, std::size_t width) {
    std::string bytes;
    for (; width > 0; --width, value >>= 8) bytes += static_cast<char>(value & 0xFF);
    return bytes;
  };
  constexpr std::size_t kMegabyte = std::size_t{1} << 20;
  std::string packed(kMegabyte, '\0');
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string zeros(kMegabyte, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(zeros.data());
  stream.avail_in = static_cast<uInt>(zeros.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  std::string bytes = number(0x04034b50, 4) + std::string(26, '\0') + packed;
  const std::size_t directory = bytes.size();
  for (int i = 0; i < count; ++i) {
    bytes += number(0x02014b50, 4) + std::string(6, '\0') + number(8, 2) + std::string(8, '\0') +
             number(packed.size(), 4) + number(kMegabyte, 4) + std::string(18, '\0');
  }
  return bytes + number(0x06054b50, 4) + std::string(6, '\0') + number(count, 2) +
         std::string(4, '\0') + number(directory, 4) + std::string(2, '\0');
}

TEST(ZipArchiveTest, AllThatIsInflatedHasABound) {
  const std::string bytes = archive_of_zeros(40);
  const auto entries = read_zip(bytes);
  ASSERT_TRUE(entries.has_value());
  ASSERT_EQ(entries->size(), 40u);
  std::size_t inflated = 0;
  for (const ZipEntry& entry : *entries) inflated += entry.bytes.size();
  EXPECT_EQ(inflated, std::size_t{16} << 20);
}

TEST(ZipArchiveTest, NoCutAndNoFlippedByteLeadsAstray) {
  const std::string bytes = bytes_of("affine.pt");
  for (std::size_t size = 0; size < bytes.size(); ++size) read_zip(bytes.substr(0, size));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string other = bytes;
    other[at] = static_cast<char>(~other[at]);
    const auto entries = read_zip(other);
    if (!entries) continue;
    for (const ZipEntry& entry : *entries) {  // every listed entry is inside the archive
      if (entry.bytes.empty() || entry.inflated) continue;
      EXPECT_GE(entry.bytes.data(), other.data());
      EXPECT_LE(entry.bytes.data() + entry.bytes.size(), other.data() + other.size());
    }
  }
}

}  // namespace
}  // namespace leapp::view
