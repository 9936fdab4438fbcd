#include "import/text_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "leapp/error.h"
#include "support.h"

namespace leapp::importing {
namespace {

ErrorKind kind_of(const std::filesystem::path& file) {
  try {
    read_text(file);
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::kInternal;
}

TEST(TextFileTest, ReadsWholeFilesOfTheSizeOfADescription) {
  const testing::Folder folder;
  std::ofstream(folder.path() / "a.yaml") << "x: 1\n";
  EXPECT_EQ(read_text(folder.path() / "a.yaml"), "x: 1\n");
  EXPECT_EQ(kind_of(folder.path() / "nowhere.yaml"), ErrorKind::kNotFound);
  std::ofstream(folder.path() / "huge.yaml") << std::string((std::size_t{4} << 20) + 1, ' ');
  EXPECT_NE(kind_of(folder.path() / "huge.yaml"), ErrorKind::kInternal);
}

}  // namespace
}  // namespace leapp::importing
