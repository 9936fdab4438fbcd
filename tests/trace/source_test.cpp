// The location of a call: from the front end's hooks, or the position of a C++ caller.
#include "trace/source.h"

#include <gtest/gtest.h>

namespace leapp::trace {
namespace {

class SourceTest : public ::testing::Test {
 protected:
  ~SourceTest() override { set_source_hooks({}); }
};

TEST_F(SourceTest, AnUnknownPlaceHasNoText) {
  EXPECT_FALSE(resolve_source({}).known());
  EXPECT_EQ(line_prefix({}), "");
}

TEST_F(SourceTest, WithoutHooksItIsThePlaceOfTheLastAnnotation) {
  const auto here = std::source_location::current();
  set_cpp_location(here);
  const ir::SourceLocation found = resolve_source(capture_source());
  EXPECT_EQ(found.file, here.file_name());
  EXPECT_EQ(found.line, static_cast<int>(here.line()));
}

TEST_F(SourceTest, HooksComeFirst) {
  static const char code = 'c';
  set_source_hooks({+[]() noexcept {
                      return FrameRef{&code, 7};
                    },
                    +[](FrameRef frame) {
                      return ir::SourceLocation{"policy.py", frame.position, "forward"};
                    }});
  const FrameRef frame = capture_source();
  EXPECT_EQ(frame, (FrameRef{&code, 7}));
  EXPECT_EQ(resolve_source(frame).to_string(), "policy.py:7 in forward");
  EXPECT_EQ(line_prefix(frame), "policy.py:7 in forward: ");
}

TEST_F(SourceTest, AHookThatSeesNothingLeavesItToTheAnnotation) {
  set_cpp_location(std::source_location::current());
  set_source_hooks({+[]() noexcept { return FrameRef{}; }, nullptr});
  EXPECT_EQ(resolve_source(capture_source()).file, std::source_location::current().file_name());
}

}  // namespace
}  // namespace leapp::trace
