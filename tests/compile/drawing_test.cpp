#include "compile/drawing.h"

#include "hand_made.h"

namespace leapp::compile {
namespace {

using DrawingTest = testing::FolderTest;

TEST_F(DrawingTest, NothingIsDrawnUnlessWanted) {
  EXPECT_EQ(draw_beside({}, false, folder_, folder_, "walker").get(), "");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "walker.png"));
}

TEST_F(DrawingTest, AFolderOfThatNameIsTheReason) {
  std::filesystem::create_directories(folder_ / "target" / "walker.png");
  EXPECT_NE(draw_beside({}, true, folder_, folder_ / "target", "walker").get(), "");
}

}  // namespace
}  // namespace leapp::compile
