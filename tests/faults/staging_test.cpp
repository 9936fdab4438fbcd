// Exports onto file systems that lack something: an exchange of directories, renames, hard links.
#include "bundle/staging.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/temporary_folder.h"
#include "faults.h"
#include "leapp/error.h"

namespace leapp {
namespace {

namespace fs = std::filesystem;

class StagingFaultTest : public ::testing::Test {
 protected:
  std::string content(const std::string& name) const {
    std::ifstream file(target_ / name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  /// Exports a bundle of one model file. Rename number `index` of the commit fails with `code`.
  void replace(const std::string& with, std::size_t index, int code) const {
    StagedDirectory staged(target_);
    write_bytes(staged.path() / "w.yaml", with);
    write_bytes(staged.path() / ("model_" + with), with);
    test::arm(test::Fault::kRename, index, code);
    try {
      staged.commit();
    } catch (...) {
      EXPECT_TRUE(test::disarm());
      throw;
    }
    EXPECT_TRUE(test::disarm());
  }

  void SetUp() override {
    StagedDirectory staged(target_);
    write_bytes(staged.path() / "w.yaml", "a");
    staged.commit();
    write_bytes(target_ / "notes.txt", "of the user");
  }

  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  const TemporaryFolder folder_;
  const fs::path target_ = folder_.path() / "w";
};

TEST_F(StagingFaultTest, AMountPointGetsTheFilesOneByOne) {
  const fs::file_status before = fs::status(target_);
  for (const int code : {EBUSY, EXDEV}) {
    replace("b", 0, code);
    EXPECT_EQ(content("w.yaml"), "b");
    EXPECT_EQ(content("model_b"), "b");
    EXPECT_EQ(content("notes.txt"), "of the user");
    EXPECT_EQ(fs::status(target_).permissions(), before.permissions());
    EXPECT_EQ(entries(), 1U);
  }
}

TEST_F(StagingFaultTest, WithoutAnExchangeTheFormerExportStepsAside) {
  for (const int code : {ENOSYS, EINVAL}) {
    replace("b", 0, code);
    EXPECT_EQ(content("w.yaml"), "b");
    EXPECT_EQ(content("model_b"), "b");
    EXPECT_EQ(content("notes.txt"), "of the user");
    EXPECT_EQ(entries(), 1U);
  }
}

TEST_F(StagingFaultTest, ARefusedExchangeLeavesTheFormerExport) {
  try {
    replace("b", 0, EACCES);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kIo);
  }
  EXPECT_EQ(content("w.yaml"), "a");
  EXPECT_EQ(content("notes.txt"), "of the user");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(StagingFaultTest, WithoutHardLinksFilesOfTheUserAreCopied) {
  StagedDirectory staged(target_);
  write_bytes(staged.path() / "w.yaml", "b");
  test::arm(test::Fault::kLink, 0);
  staged.commit();
  EXPECT_TRUE(test::disarm());
  EXPECT_EQ(content("w.yaml"), "b");
  EXPECT_EQ(content("notes.txt"), "of the user");
}

}  // namespace
}  // namespace leapp
