#include <gmock/gmock.h>

#include <limits>
#include <vector>

#include "leapp/comparison.h"

namespace leapp {
namespace {

using ::testing::HasSubstr;
using Verdict = Comparison::Verdict;

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();

std::string headline_of(const std::vector<float>& traced, const std::vector<float>& exported) {
  const auto view = [](const std::vector<float>& values) {
    return ConstTensorView(values.data(), DType::kFloat32,
                           {static_cast<std::int64_t>(values.size())});
  };
  return headline(compare(view(traced), view(exported)));
}

TEST(ComparisonTextTest, EveryVerdictHasAName) {
  EXPECT_EQ(name_of(Verdict::kClose), "close");
  EXPECT_EQ(name_of(Verdict::kShape), "shape");
  EXPECT_EQ(name_of(Verdict::kDType), "dtype");
  EXPECT_EQ(name_of(Verdict::kNonFinite), "non_finite");
  EXPECT_EQ(name_of(Verdict::kValues), "values");
}

TEST(ComparisonTextTest, TheHeadlineNamesTheVerdict) {
  EXPECT_THAT(headline_of({1}, {1}), ::testing::Not(HasSubstr("NaN")));
  EXPECT_THAT(headline_of({kNothing}, {kNothing}), HasSubstr("with NaN or Inf"));
  EXPECT_THAT(headline_of({1}, {1, 2}),
              HasSubstr("returns float32 [2], the source is float32 [1]"));
  EXPECT_THAT(headline_of({1, kNothing}, {1, 2}), HasSubstr("1 of 2"));
  EXPECT_THAT(headline_of({1, 2, 3}, {1, 9, 9}), HasSubstr("2 of 3"));
}

}  // namespace
}  // namespace leapp
