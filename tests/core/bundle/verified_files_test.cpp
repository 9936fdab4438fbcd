#include "bundle/verified_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "base/temporary_folder.h"
#include "bundle/staging.h"
#include "leapp/error.h"

namespace leapp {
namespace {

class FileBytesTest : public ::testing::Test {
 protected:
  void SetUp() override { write_bytes(path_, std::string(5000, 'a')); }

  static std::string text_of(const FileBytes& file) {
    return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
  }

  template <typename Call>
  static Code code_of(const Call& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code();
    }
    return Code::kInternal;
  }

  /// Writes again until the file system notices: its clock may be slow.
  void write_until_changed(const std::string& text) const {
    struct stat before {};
    struct stat after {};
    ASSERT_EQ(::stat(path_.c_str(), &before), 0);
    do {
      write_bytes(path_, text);
      ASSERT_EQ(::stat(path_.c_str(), &after), 0);
    } while (after.st_ctim.tv_nsec == before.st_ctim.tv_nsec &&
             after.st_ctim.tv_sec == before.st_ctim.tv_sec);
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "weights";
};

TEST_F(FileBytesTest, AFileIsReadOrMapped) {
  EXPECT_EQ(text_of(FileBytes(path_)), std::string(5000, 'a'));
  const FileBytes mapped = FileBytes::mapped(path_);
  EXPECT_EQ(text_of(mapped), std::string(5000, 'a'));
  EXPECT_NO_THROW(mapped.require_unchanged());
}

TEST_F(FileBytesTest, AnEmptyFileHasNoBytes) {
  write_bytes(path_, "");
  EXPECT_EQ(text_of(FileBytes::mapped(path_)), "");
}

// A file that is replaced while it is loaded: the hash is of the bytes that were read.
TEST_F(FileBytesTest, AReadFileIsACopy) {
  const FileBytes file(path_);
  write_bytes(path_, std::string(5000, 'b'));
  EXPECT_EQ(text_of(file), std::string(5000, 'a'));
  EXPECT_NO_THROW(file.require_unchanged());
}

TEST_F(FileBytesTest, AMappedFileThatChangesIsRefused) {
  const FileBytes same_size = FileBytes::mapped(path_);
  write_until_changed(std::string(5000, 'b'));
  EXPECT_EQ(code_of([&] { same_size.require_unchanged(); }), Code::kIo);
  const FileBytes longer = FileBytes::mapped(path_);
  write_until_changed(std::string(6000, 'b'));
  EXPECT_EQ(code_of([&] { longer.require_unchanged(); }), Code::kIo);
  // Another file under the same name is not the one that is mapped.
  const FileBytes replaced = FileBytes::mapped(path_);
  std::filesystem::rename(path_, folder_.path() / "moved");
  write_bytes(path_, "other");
  EXPECT_EQ(text_of(replaced), std::string(6000, 'b'));
}

TEST_F(FileBytesTest, OnlyRegularFilesAreOpened) {
  const std::filesystem::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::filesystem::path& path : {pipe, folder_.path()}) {
    EXPECT_EQ(code_of([&] { FileBytes file(path); }), Code::kIo);
    EXPECT_EQ(code_of([&] { FileBytes::mapped(path); }), Code::kIo);
  }
  EXPECT_NE(code_of([&] { FileBytes file(folder_.path() / "nothing"); }), Code::kInternal);
}

}  // namespace
}  // namespace leapp
