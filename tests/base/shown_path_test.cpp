// What a bundle tells of its maker's folders: nothing.
#include "base/shown_path.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace leapp {
namespace {

const std::string kHere = std::filesystem::current_path().string();

TEST(ShownPathTest, BelowTheWorkingFolderItIsRelative) {
  EXPECT_EQ(shown_path(kHere + "/tasks/walk.py"), "tasks/walk.py");
  EXPECT_EQ(shown_path(kHere), ".");
}

TEST(ShownPathTest, AnInstalledFileBeginsWithItsPackage) {
  EXPECT_EQ(shown_path("/home/max/env/lib/python3.11/site-packages/rsl_rl/mlp.py"),
            "rsl_rl/mlp.py");
  EXPECT_EQ(shown_path(kHere + "/.venv/lib/site-packages/rsl_rl/mlp.py"), "rsl_rl/mlp.py");
  EXPECT_EQ(shown_path("/usr/lib/python3/dist-packages/yaml/nodes.py"), "yaml/nodes.py");
}

TEST(ShownPathTest, AnyOtherFileIsItsName) {
  EXPECT_EQ(shown_path("/home/max/secret project/walk.py"), "walk.py");
  EXPECT_EQ(shown_path("/home/max/out/"), "out");
  EXPECT_EQ(shown_path(kHere + "_beside/walk.py"), "walk.py");
}

TEST(ShownPathTest, WhatIsNoAbsolutePathStays) {
  EXPECT_EQ(shown_path("tasks/walk.py"), "tasks/walk.py");
  EXPECT_EQ(shown_path("../walk.py"), "../walk.py");
  EXPECT_EQ(shown_path("<stdin>"), "<stdin>");
  EXPECT_EQ(shown_path(""), "");
}

TEST(ShownPathTest, EveryPathOfATextIsShown) {
  EXPECT_EQ(with_shown_paths(kHere + "/walk.py:7 in forward: 'policy/obs' is 1 / 2 of it"),
            "walk.py:7 in forward: 'policy/obs' is 1 / 2 of it");
  EXPECT_EQ(with_shown_paths("%1 = aten::relu(self=%0)  # /home/max/a/walk.py:7 in <module>\n"),
            "%1 = aten::relu(self=%0)  # walk.py:7 in <module>\n");
  EXPECT_EQ(with_shown_paths("Bundle written to /home/max/out"), "Bundle written to out");
  EXPECT_EQ(with_shown_paths("into " + kHere + "; see '/a/b.txt'"), "into .; see 'b.txt'");
  EXPECT_EQ(with_shown_paths("https://host/page and // and /"), "https://host/page and // and /");
}

}  // namespace
}  // namespace leapp
