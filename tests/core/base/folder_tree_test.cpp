// Removing a directory removes everything in it, and nothing else.
#include "base/folder_tree.h"

#include <gtest/gtest.h>

#include <fstream>

namespace leapp {
namespace {

namespace fs = std::filesystem;

class FolderTreeTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::path(testing::TempDir()) / "leapp-tree-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { remove_tree(folder_); }

  fs::path folder_;
};

TEST_F(FolderTreeTest, RemovesWhatIsBelowAndFollowsNoLink) {
  const fs::path tree = folder_ / "tree";
  fs::create_directories(tree / "a" / "b");
  std::ofstream(tree / "a" / "b" / "file") << "x";
  fs::create_directories(folder_ / "kept");
  std::ofstream(folder_ / "kept" / "file") << "x";
  fs::create_directory_symlink(folder_ / "kept", tree / "a" / "link");

  EXPECT_FALSE(remove_tree(tree));

  EXPECT_FALSE(fs::exists(tree));
  EXPECT_TRUE(fs::exists(folder_ / "kept" / "file"));
}

TEST_F(FolderTreeTest, RemovesASingleFile) {
  std::ofstream(folder_ / "file") << "x";
  EXPECT_FALSE(remove_tree(folder_ / "file"));
  EXPECT_FALSE(fs::exists(folder_ / "file"));
}

TEST_F(FolderTreeTest, WhatIsNotThereIsNoError) {
  EXPECT_FALSE(remove_tree(folder_ / "nothing"));
}

TEST_F(FolderTreeTest, SaysWhyItCannot) {
  std::ofstream(folder_ / "file") << "x";
  EXPECT_EQ(remove_tree(folder_ / "file" / "below"), std::errc::not_a_directory);
}

}  // namespace
}  // namespace leapp
