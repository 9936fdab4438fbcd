#include "base/append_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/input_file.h"
#include "base/temporary_folder.h"
#include "support/file_size_limit.h"

namespace leapp {
namespace {

TEST(AppendFileTest, WritesWhatIsAppended) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "a";
  AppendFile file(path);
  EXPECT_TRUE(file.append("one "));
  EXPECT_TRUE(file.append("two"));
  EXPECT_EQ(file.size(), 7u);
  EXPECT_EQ(read_file(path, 100), "one two");  // without a flush
  EXPECT_FALSE(file.close());
  EXPECT_FALSE(file.append("three"));
}

TEST(AppendFileTest, ReplacesAnOlderFile) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "a";
  AppendFile(path).append("a long text");
  AppendFile(path).append("short");
  EXPECT_EQ(read_file(path, 100), "short");
}

TEST(AppendFileTest, AFullDeviceIsSeenAtOnce) {
  AppendFile file("/dev/full");
  EXPECT_FALSE(file.error());
  EXPECT_FALSE(file.append("x"));
  EXPECT_EQ(file.error(), std::errc::no_space_on_device);
  EXPECT_EQ(file.close(), std::errc::no_space_on_device);
}

TEST(AppendFileTest, KeepsWhatWasWrittenWholeAndTakesNothingMore) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "a";
  AppendFile file(path);
  EXPECT_TRUE(file.append("first "));
  {
    const test::FileSizeLimit limit(10);
    EXPECT_FALSE(file.append("second"));  // only four bytes of it fit
    EXPECT_EQ(file.error(), std::errc::file_too_large);
  }
  EXPECT_FALSE(file.append("third"));  // there is room again, but the file must not get a gap in
                                       // the middle
  EXPECT_EQ(file.size(), 6u);
  EXPECT_EQ(read_file(path, 100), "first ");
}

TEST(AppendFileTest, AFileThatCannotBeMadeIsAnError) {
  AppendFile file("/nowhere/at/all");
  EXPECT_EQ(file.error(), std::errc::no_such_file_or_directory);
  EXPECT_FALSE(file.append("x"));
}

TEST(AppendFileTest, APipeWithoutAReaderDoesNotWait) {
  const TemporaryFolder folder;
  const std::filesystem::path pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(AppendFile(pipe).error());
}

}  // namespace
}  // namespace leapp
