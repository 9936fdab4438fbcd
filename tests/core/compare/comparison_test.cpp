#include "leapp/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace leapp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Verdict = Comparison::Verdict;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

template <typename T>
ConstTensorView view(const std::vector<T>& values, DType dtype, Shape shape = {}) {
  if (shape.empty()) shape = {static_cast<std::int64_t>(values.size())};
  return {values.data(), dtype, shape};
}

Comparison compare_floats(const std::vector<float>& traced, const std::vector<float>& exported,
                          Tolerance tolerance = {}) {
  return compare(view(traced, DType::kFloat32), view(exported, DType::kFloat32), tolerance);
}

std::string text_of(const Comparison& comparison) {
  std::string text = headline(comparison);
  for (const std::string& line : details(comparison)) text += "\n" + line;
  return text;
}

TEST(Compare, EqualTensorsAreCloseWithNothingToTell) {
  const auto result = compare_floats({1, 2, 3}, {1, 2, 3});
  EXPECT_TRUE(result.passed());
  EXPECT_TRUE(details(result).empty());
}

TEST(Compare, ToleranceIsRelativeToTheTracedValue) {
  const Tolerance tolerance{0.1, 0.5};
  EXPECT_TRUE(compare_floats({10}, {11.5F}, tolerance).passed());  // 1.5 <= 0.5 + 0.1 * 10
  EXPECT_FALSE(compare_floats({10}, {11.51F}, tolerance).passed());
  EXPECT_FALSE(compare_floats({11.7F}, {10}, {0.145, 0}).passed());  // 1.7 > 0.145 * 11.7
  EXPECT_TRUE(compare_floats({10}, {11.4F}, {0.145, 0}).passed());
}

TEST(Compare, HalfPrecisionGetsItsOwnStepsUnlessAsked) {
  const std::vector<std::uint16_t> one{0x3C00};       // float16
  const std::vector<std::uint16_t> next{0x3C01};      // the next larger float
  const std::vector<std::uint16_t> far_away{0x3C10};  // sixteen steps
  const auto half = [](const auto& values) { return view(values, DType::kFloat16); };
  EXPECT_TRUE(compare(half(one), half(next)).passed());
  EXPECT_FALSE(compare(half(one), half(far_away)).passed());
  EXPECT_FALSE(compare(half(one), half(next), {0, 0}).passed());
  EXPECT_EQ(tolerance_for(DType::kFloat32, {}), Tolerance{});
}

TEST(Compare, AMismatchIsMeasuredCompletely) {
  std::vector<float> traced(11, 0);
  std::vector<float> exported;
  for (int i = 0; i <= 10; ++i) exported.push_back(static_cast<float>(i));
  const auto result =
      compare(view(traced, DType::kFloat32, {1, 11}), view(exported, DType::kFloat32, {1, 11}));
  EXPECT_EQ(result.verdict, Verdict::kValues);
  EXPECT_EQ(result.mismatched, 10);
  EXPECT_DOUBLE_EQ(result.difference.max, 10);
  EXPECT_DOUBLE_EQ(result.difference.mean, 5);
  EXPECT_THAT(result.difference.percentiles,
              ElementsAre(testing::DoubleEq(5), testing::DoubleEq(7.5), testing::DoubleEq(9),
                          testing::DoubleNear(9.9, 1e-12), testing::DoubleNear(9.95, 1e-12)));
  EXPECT_EQ(text_of(result),
            "Mismatch detected (rtol=0.001, atol=1e-05): 10 of 11 values are not close\n"
            "  source:   shape [1, 11], dtype float32, range [0.000000e+00, 0.000000e+00]\n"
            "  exported: shape [1, 11], dtype float32, range [0.000000e+00, 1.000000e+01]\n"
            "  difference: max=1.000000e+01, mean=5.000000e+00\n"
            "  percentiles: p50=5.000000e+00, p75=7.500000e+00, p90=9.000000e+00, "
            "p99=9.900000e+00, p995=9.950000e+00\n"
            "  largest at [0, 10]: source 0.000000e+00, exported 1.000000e+01");
}

TEST(Compare, NanAndInfAtTheSamePlacesPassWithANote) {
  const auto result = compare_floats({kNan, -kInf, kInf, 1}, {kNan, -kInf, kInf, 1});
  EXPECT_TRUE(result.passed());
  EXPECT_EQ(headline(result), "close (rtol=0.001, atol=1e-05), with NaN or Inf");
  EXPECT_THAT(text_of(result), HasSubstr("source has 1 NaN (25.0 %), 2 Inf (50.0 %); exported has "
                                         "1 NaN (25.0 %), 2 Inf (50.0 %)"));
  EXPECT_THAT(text_of(result), HasSubstr("both sides have them at the same indices"));
}

TEST(Compare, NanOnOneSideNamesItsOrigin) {
  const auto exported = compare_floats({1, 2}, {1, kNan});
  EXPECT_EQ(exported.verdict, Verdict::kNonFinite);
  EXPECT_THAT(text_of(exported), HasSubstr("only the exported model has them"));
  EXPECT_THAT(text_of(exported), HasSubstr("exported has 1 NaN (50.0 %), 0 Inf (0.0 %)"));
  EXPECT_THAT(text_of(compare_floats({kInf, 2}, {1, 2})), HasSubstr("only the source has them"));
  EXPECT_THAT(text_of(compare_floats({kInf, 2}, {2, kInf})), HasSubstr("at different indices"));
}

TEST(Compare, AnInfiniteTracedValueDoesNotExcuseAFiniteOne) {
  EXPECT_FALSE(compare_floats({kInf}, {1}).passed());
  EXPECT_FALSE(compare_floats({kInf}, {-kInf}).passed());
}

TEST(Compare, ValuesTooFarApartForTheirTypeStillDiffer) {
  constexpr double kMax = std::numeric_limits<double>::max();
  const std::vector<double> traced = {kMax};
  const std::vector<double> exported = {-kMax};
  const auto result = compare(view(traced, DType::kFloat64), view(exported, DType::kFloat64));
  EXPECT_EQ(result.verdict, Verdict::kValues);
}

TEST(Compare, NothingFiniteHasNoRange) {
  EXPECT_THAT(text_of(compare_floats({kNan}, {kInf})), HasSubstr("no finite value"));
}

TEST(Compare, ShapesAndDTypesMustAgree) {
  const std::vector<float> values = {1, 2};
  const auto shape =
      compare(view(values, DType::kFloat32, {1, 2}), view(values, DType::kFloat32, {2, 1}));
  EXPECT_EQ(shape.verdict, Verdict::kShape);
  EXPECT_THAT(headline(shape), HasSubstr("the exported model returns float32 [2, 1], the source is "
                                         "float32 [1, 2]"));
  const auto dtype = compare(view(values, DType::kFloat32), view(values, DType::kInt32));
  EXPECT_EQ(dtype.verdict, Verdict::kDType);
  EXPECT_THAT(headline(dtype),
              HasSubstr("the exported model returns int32, the source is float32"));
}

TEST(Compare, EmptyTensorsAndScalarsWork) {
  EXPECT_TRUE(
      compare({nullptr, DType::kFloat32, {0, 3}}, {nullptr, DType::kFloat32, {0, 3}}).passed());
  const float one = 1;
  const float two = 2;
  const auto result = compare({&one, DType::kFloat32, {}}, {&two, DType::kFloat32, {}});
  EXPECT_THAT(text_of(result), HasSubstr("largest at []: source 1.000000e+00"));
}

TEST(Compare, IntegersOf64BitsAreSubtractedExactly) {
  const std::vector<std::int64_t> traced = {(std::int64_t{1} << 53) + 1, INT64_MAX};
  const std::vector<std::int64_t> exported = {std::int64_t{1} << 53, INT64_MIN};
  const auto result = compare(view(traced, DType::kInt64), view(exported, DType::kInt64), {0, 0.5});
  EXPECT_EQ(result.mismatched, 2);
  EXPECT_DOUBLE_EQ(result.difference.max, 18446744073709551615.0);
}

TEST(Compare, TruthValuesDifferByOne) {
  const std::vector<std::uint8_t> traced = {1, 0};
  const std::vector<std::uint8_t> exported = {255, 1};  // any non-zero byte is true
  const auto result = compare(view(traced, DType::kBool), view(exported, DType::kBool));
  EXPECT_EQ(result.mismatched, 1);
  EXPECT_DOUBLE_EQ(result.difference.max, 1);
}

TEST(Compare, ComplexValuesGoByMagnitude) {
  const std::vector<std::complex<float>> traced = {{3, 4}, {0, kInf}};
  const std::vector<std::complex<float>> exported = {{3, 5}, {0, kInf}};
  const auto result = compare(view(traced, DType::kComplex64), view(exported, DType::kComplex64));
  EXPECT_EQ(result.mismatched, 1);
  EXPECT_DOUBLE_EQ(result.difference.max, 1);
  EXPECT_THAT(text_of(result), HasSubstr("dtype complex64, magnitudes [5.000000e+00"));
}

TEST(Compare, NamesTheFirstAndTheWorstMismatch) {
  const Comparison numbers = compare_floats({1, 2, 3, 4}, {1, 2.5, 7, 4});
  EXPECT_EQ(numbers.first.index, 1);
  EXPECT_EQ(numbers.first.exported, 2.5);
  EXPECT_EQ(numbers.worst.index, 2);
  EXPECT_EQ(numbers.worst.traced, 3);
  // A difference of NaN or infinity counts as larger than any number.
  EXPECT_EQ(compare_floats({1, 2, kNan, kInf}, {5, 2, 3, 4}).worst.index, 2);
  EXPECT_EQ(compare_floats({1, kNan}, {1, kNan}).first.index, -1);
}

TEST(Compare, EveryDTypeCanBeCompared) {
  const std::vector<std::uint8_t> zeros(16, 0);
  std::vector<std::uint8_t> ones(16, 0);
  ones[0] = 1;
  for (int i = 0; i <= static_cast<int>(DType::kComplex128); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_TRUE(compare({zeros.data(), dtype, {1}}, {zeros.data(), dtype, {1}}).passed());
    EXPECT_FALSE(compare({zeros.data(), dtype, {1}}, {ones.data(), dtype, {1}}, {0, 0}).passed())
        << name_of(dtype);
  }
}

}  // namespace
}  // namespace leapp
