// The comparison of two tensors that all of LEAPP uses: an exported model with what was traced, a
// bundle with the program that a shadow run follows, a replay with a recording, merged nodes with
// single ones, weights with weights. `traced` counts as right, `exported` is the other.
//
// A value is close when |exported - traced| <= atol + rtol * |traced|. NaN and infinity are close
// to themselves: a masked logit is -inf on both sides, which is right. Integers and bools use
// the same formula, with exact differences.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/tensor_view.h"
#include "leapp/tolerance.h"
#include "leapp/visibility.h"

namespace leapp {

/// A summary of one of the two tensors. Complex values are represented by their magnitude.
struct SideSummary {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::int64_t nan = 0;     ///< elements that are NaN
  std::int64_t inf = 0;     ///< elements that are infinite
  std::int64_t finite = 0;  ///< all others
  double min = 0;           ///< over the finite ones
  double max = 0;
};

/// |exported - traced| over the elements that are finite on both sides.
struct DifferenceSummary {
  std::int64_t compared = 0;
  double max = 0;
  double mean = 0;
  /// p50, p75, p90, p99 and p99.5, interpolated linearly between neighbours.
  std::array<double, 5> percentiles{};
  Shape worst_index;  ///< where the largest difference is
  double worst_traced = 0;
  double worst_exported = 0;
};

inline constexpr std::array<double, 5> kPercentileRanks = {0.5, 0.75, 0.9, 0.99, 0.995};

/// An element that is not close, by its index into the whole tensor.
struct ElementMismatch {
  std::int64_t index = -1;  ///< -1: no element
  double traced = 0;        ///< complex values by their magnitude
  double exported = 0;
};

/// The outcome. Of compare(), `traced`, `exported` and `difference` are filled in only where there
/// is something to tell: a pass without NaN and infinity costs one look at each element.
struct Comparison {
  enum class Verdict {
    kClose,      ///< passed
    kShape,      ///< the shapes differ
    kDType,      ///< the dtypes differ
    kNonFinite,  ///< NaN or infinity at different places
    kValues,     ///< finite values differ too much
  };

  Verdict verdict = Verdict::kClose;
  Tolerance tolerance;
  std::int64_t elements = 0;
  std::int64_t mismatched = 0;  ///< elements that are not close
  ElementMismatch first;
  ElementMismatch worst;  ///< NaN or infinity on one side alone is further off than any number
  SideSummary traced;
  SideSummary exported;
  DifferenceSummary difference;

  bool passed() const noexcept { return verdict == Verdict::kClose; }
  bool has_non_finite() const noexcept {
    return traced.nan + traced.inf + exported.nan + exported.inf > 0;
  }
};

/// Compares two tensors, in linear time. Allocates only if they differ.
LEAPP_EXPORT Comparison compare(const ConstTensorView& traced, const ConstTensorView& exported,
                                const Tolerance& asked = {});

/// Compares two tensors and fills in every figure, also if everything is close.
LEAPP_EXPORT Comparison compare_in_full(const ConstTensorView& traced,
                                        const ConstTensorView& exported,
                                        const Tolerance& asked = {});

/// Returns "close", "shape", "dtype", "non_finite" or "values".
LEAPP_EXPORT std::string_view name_of(Comparison::Verdict verdict) noexcept;

/// Returns the outcome in one sentence that does not name the tensor:
/// "Mismatch detected (rtol=0.001, atol=1e-05): 3 of 4 values are not close".
LEAPP_EXPORT std::string headline(const Comparison& comparison);

/// Lines with everything that was measured: types, shapes, NaN and infinity with their origin,
/// ranges, differences. Empty for a pass without NaN and infinity.
LEAPP_EXPORT std::vector<std::string> details(const Comparison& comparison);

}  // namespace leapp
