// Archives of PyTorch, whole, cut short and made up.
#include "view/zip_archive.h"

#include <gmock/gmock.h>

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

TEST(ZipArchiveTest, NoCutAndNoFlippedByteLeadsAstray) {
  const std::string bytes = bytes_of("affine.pt");
  for (std::size_t size = 0; size < bytes.size(); ++size) read_zip(bytes.substr(0, size));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string other = bytes;
    other[at] = static_cast<char>(~other[at]);
    const auto entries = read_zip(other);
    if (!entries) continue;
    for (const ZipEntry& entry : *entries) {  // whatever is listed lies in the archive
      if (entry.bytes.empty() || entry.inflated) continue;
      EXPECT_GE(entry.bytes.data(), other.data());
      EXPECT_LE(entry.bytes.data() + entry.bytes.size(), other.data() + other.size());
    }
  }
}

}  // namespace
}  // namespace leapp::view
