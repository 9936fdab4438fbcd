// The comparison of two tensors, which all of LEAPP uses: an exported model with the trace, a
// shadow run with the program, a replay with a recording, merged nodes with single ones, and
// weights with weights. `traced` is the reference; `exported` is the value that is tested.
//
// A value is close if |exported - traced| <= atol + rtol * |traced|. NaN and infinity are close to
// themselves: a masked logit is -inf on both sides, which is right. Integers and bools use the same
// formula, with exact differences.
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
  std::int64_t finite = 0;  ///< all other elements
  double min = 0;           ///< over the finite elements
  double max = 0;
};

/// |exported - traced| over the elements that are finite on both sides.
struct DifferenceSummary {
  std::int64_t compared = 0;
  double max = 0;
  double mean = 0;
  /// p50, p75, p90, p99 and p99.5, interpolated linearly between neighbours.
  std::array<double, 5> percentiles{};
  Shape worst_index;  ///< position of the largest difference
  double worst_traced = 0;
  double worst_exported = 0;
};

inline constexpr std::array<double, 5> kPercentileRanks = {0.5, 0.75, 0.9, 0.99, 0.995};

/// An element that is not close, by its index into the whole tensor.
struct ElementMismatch {
  std::int64_t index = -1;  ///< -1: no element
  double traced = 0;        ///< magnitude for complex values
  double exported = 0;
};

/// The outcome. compare() fills in `traced`, `exported` and `difference` only if the tensors differ
/// or contain NaN or infinity. Otherwise it reads each element once.
struct Comparison {
  enum class Verdict {
    kClose,      ///< passed
    kShape,      ///< the shapes differ
    kDType,      ///< the dtypes differ
    kNonFinite,  ///< NaN or infinity at different indices
    kValues,     ///< finite values are not close
  };

  Verdict verdict = Verdict::kClose;
  Tolerance tolerance;
  std::int64_t elements = 0;
  std::int64_t mismatched = 0;  ///< elements that are not close
  ElementMismatch first;
  ElementMismatch worst;  ///< NaN or infinity on one side exceeds every number
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

/// Returns lines with all figures: types, shapes, NaN and infinity with their origin, ranges,
/// differences. Empty if the tensors agree and contain no NaN or infinity.
LEAPP_EXPORT std::vector<std::string> details(const Comparison& comparison);

}  // namespace leapp
