#include "base/input_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "base/temporary_folder.h"
#include "leapp/error.h"

namespace leapp {
namespace {

using ::testing::HasSubstr;

class InputFileTest : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() / name) << text;
    return folder_.path() / name;
  }
  // Returns the error of opening that file.
  static std::string fault(const std::filesystem::path& path, ErrorKind kind) {
    try {
      InputFile file(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind);
      return error.text();
    }
    ADD_FAILURE() << path << " was opened";
    return {};
  }

  TemporaryFolder folder_;
};

TEST_F(InputFileTest, ReadsInPieces) {
  InputFile file(write("a", "0123456789"));
  EXPECT_EQ(file.size(), 10u);
  std::array<char, 4> piece{};
  EXPECT_EQ(file.read(piece), 4u);
  EXPECT_EQ(std::string(piece.data(), 4), "0123");
  EXPECT_EQ(file.read(piece), 4u);
  EXPECT_EQ(file.read(piece), 2u);
  EXPECT_EQ(std::string(piece.data(), 2), "89");
  EXPECT_EQ(file.read(piece), 0u);
}

TEST_F(InputFileTest, ReadsWholeFilesUpToALimit) {
  EXPECT_EQ(read_file(write("a", "policy\n"), 7), "policy\n");
  EXPECT_EQ(read_file(write("empty", ""), 0), "");
  try {
    read_file(write("b", "policy!\n"), 7);
    FAIL() << "a file beyond the limit was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kIo);
    EXPECT_THAT(error.text(),
                HasSubstr("b: the file has 8 bytes; a file of this kind has at most 7"));
  }
}

// Opening each of these would wait forever, or reading it would never end.
TEST_F(InputFileTest, RefusesWhatIsNotARegularFile) {
  const std::filesystem::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(fault(pipe, ErrorKind::kIo), HasSubstr("pipe: this is not a regular file"));
  EXPECT_THAT(fault(folder_.path(), ErrorKind::kIo), HasSubstr("this is not a regular file"));
  EXPECT_THAT(fault("/dev/zero", ErrorKind::kIo), HasSubstr("this is not a regular file"));
}

TEST_F(InputFileTest, SaysThatThereIsNone) {
  EXPECT_THAT(fault(folder_.path() / "none", ErrorKind::kNotFound),
              HasSubstr("none: the file was not found"));
}

}  // namespace
}  // namespace leapp
