// A temporary directory is created in the requested place, and removed with its content.
#include "base/temporary_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "leapp/error.h"

namespace leapp {
namespace {

namespace fs = std::filesystem;

TEST(TemporaryFolderTest, GoesWithWhatIsInIt) {
  fs::path path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    fs::create_directory(path / "below");
    std::ofstream(path / "below" / "file") << "x";
    EXPECT_TRUE(fs::exists(path / "below" / "file"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolderTest, MakesTheFolderItIsAskedFor) {
  const TemporaryFolder outer;
  const TemporaryFolder folder(outer.path() / "a" / "b");
  EXPECT_EQ(folder.path().parent_path(), outer.path() / "a" / "b");
}

TEST(TemporaryFolderTest, StandsInTheWorkingFolderWhereNoneIsNamed) {
  const TemporaryFolder folder{fs::path()};
  EXPECT_TRUE(folder.path().is_relative());
  EXPECT_TRUE(fs::is_directory(folder.path()));
}

TEST(TemporaryFolderTest, DoesWithoutAFolderThatTheEnvironmentNamesWrongly) {
  setenv("TMPDIR", "/not/there", 1);
  const TemporaryFolder folder;
  unsetenv("TMPDIR");
  EXPECT_TRUE(fs::is_directory(folder.path()));
}

TEST(TemporaryFolderTest, SaysWhereNothingCanBeWritten) {
  const TemporaryFolder outer;
  const fs::path file = outer.path() / "file";
  std::ofstream(file) << "x";
  try {
    const TemporaryFolder folder(file);
    FAIL() << "a directory was created in a file";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kIo);
    EXPECT_EQ(std::string(error.what()),
              file.string() + ": could not create a directory there: Not a directory [LP005]");
  }
}

}  // namespace
}  // namespace leapp
