#include "shadow/shadow_text.h"

#include <gmock/gmock.h>

#include <limits>
#include <vector>

namespace leapp::shadow {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ShadowDifference difference(const std::vector<float>& program, const std::vector<float>& bundle) {
  const auto view = [](const std::vector<float>& values) {
    return ConstTensorView(values.data(), DType::kFloat32,
                           {static_cast<std::int64_t>(values.size())});
  };
  ShadowDifference found{.port = "action", .tick = 7};
  found.comparison = compare(view(program), view(bundle));
  return found;
}

TEST(ShadowTextTest, ADifferenceHasItsPlaceAndBothValues) {
  EXPECT_THAT(difference_text("pi", difference({1, 2}, {1, 4}), "what to do"),
              AllOf(HasSubstr("'pi', 'action', tick 7"), HasSubstr("error 2.000e+00 at [1]"),
                    HasSubstr("2 in the program and 4 in the bundle"), HasSubstr("what to do.")));
}

TEST(ShadowTextTest, ADifferenceOfFormHasBothForms) {
  EXPECT_THAT(difference_text("pi", difference({1, 2}, {1}), "x"),
              HasSubstr("float32 [2] in the program, float32 [1] in the bundle"));
}

TEST(ShadowTextTest, NanHasNoError) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(difference_text("pi", difference({1, nan}, {1, 2}), "x"),
              AllOf(HasSubstr("NaN or infinity"), Not(HasSubstr("error"))));
}

TEST(ShadowTextTest, ThePortsAndNodesAreNamed) {
  EXPECT_THAT(state_text("h"), HasSubstr("'h'"));
  EXPECT_THAT(wire_text("x", "pre/y"), AllOf(HasSubstr("'x'"), HasSubstr("pre/y")));
  EXPECT_NE(output_text(1), output_text(2));  // the first tick may have an old state
  EXPECT_THAT(schedule_text("pi", true), HasSubstr("ran it"));
  EXPECT_THAT(schedule_text("pi", false), HasSubstr("did not run it"));
  ShadowNodeReport report;
  report.node = "pi";
  report.ticks = 3;
  EXPECT_THAT(reset_text(report), HasSubstr("'pi', tick 3"));
}

}  // namespace
}  // namespace leapp::shadow
