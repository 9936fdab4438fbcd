// Paths in a model must not reveal directories of the machine that exported it.
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

}  // namespace
}  // namespace leapp
