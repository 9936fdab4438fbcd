#include "base/log_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace leapp {
namespace {

class LogFileTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = std::filesystem::path(testing::TempDir()) / ("log_file_" + name);
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    path_ = folder_ / "log.txt";
  }

  std::string text() const {
    std::ostringstream content;
    content << std::ifstream(path_).rdbuf();
    return content.str();
  }

  std::filesystem::path folder_;
  std::filesystem::path path_;
};

TEST_F(LogFileTest, PutsAWarningAndWhatCameBeforeItInTheFileAtOnce) {
  LogFile log;
  ASSERT_FALSE(log.open(path_));
  log.write(LogLevel::kInfo, "one");
  log.write(LogLevel::kWarning, "two");
  EXPECT_EQ(text(), "[INFO]: one\n[WARNING]: two\n");
}

TEST_F(LogFileTest, PutsOtherLinesInTheFileWhenItIsFlushed) {
  LogFile log;
  ASSERT_FALSE(log.open(path_));
  log.write(LogLevel::kInfo, "one");
  EXPECT_EQ(text(), "");
  log.flush();
  EXPECT_EQ(text(), "[INFO]: one\n");
}

TEST_F(LogFileTest, PutsTheRestInTheFileWhenAnotherIsOpened) {
  LogFile log;
  ASSERT_FALSE(log.open(path_));
  log.write(LogLevel::kInfo, "one");
  ASSERT_FALSE(log.open(folder_ / "other.txt"));
  EXPECT_EQ(text(), "[INFO]: one\n");
}

TEST_F(LogFileTest, ReplacesTheLogOfAnEarlierSession) {
  std::ofstream(path_) << "old\n";
  LogFile log;
  ASSERT_FALSE(log.open(path_));
  log.write(LogLevel::kError, "new");
  EXPECT_EQ(text(), "[ERROR]: new\n");
}

TEST_F(LogFileTest, SaysWhatStandsInTheWay) {
  std::filesystem::create_directories(path_);
  LogFile log;
  EXPECT_EQ(log.open(path_), std::errc::is_a_directory);
}

TEST_F(LogFileTest, StaysWithTheFormerFileWhereAnotherCannotBeWritten) {
  LogFile log;
  ASSERT_FALSE(log.open(path_));
  EXPECT_TRUE(log.open(folder_));
  log.write(LogLevel::kWarning, "one");
  EXPECT_EQ(text(), "[WARNING]: one\n");
}

}  // namespace
}  // namespace leapp
