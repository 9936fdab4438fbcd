// Tolerances for the comparison of two values, one for each purpose in LEAPP.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include "leapp/dtype.h"
#include "leapp/visibility.h"

namespace leapp {

/// |found - expected| <= atol + rtol * |expected|. The default is for exported models against
/// the trace.
struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-5;

  bool operator==(const Tolerance&) const = default;
};

/// No difference is allowed.
inline constexpr Tolerance kExact{0, 0};
/// The same computation with sums in a different order: half an ulp of a float32 is 6e-8.
inline constexpr Tolerance kReordered{1e-6, 1e-6};
/// The same operators run again, possibly by different kernels.
inline constexpr Tolerance kRepeated{1e-5, 1e-6};
/// A replayed recording, possibly on another processor.
inline constexpr Tolerance kReplayed{1e-4, 1e-6};
/// The same model in a different engine.
inline constexpr Tolerance kTranslated{1e-4, 1e-5};
/// A formula derived from several runs, in single precision.
inline constexpr Tolerance kFitted{1e-4, 1e-4};

/// Returns true if two numbers are close. NaN is not close to any number.
inline bool is_close(double found, double expected, const Tolerance& tolerance) noexcept {
  return std::abs(found - expected) <= tolerance.atol + tolerance.rtol * std::abs(expected);
}

/// Returns the tolerance for elements of a type. Half precision is coarser than the default
/// tolerance, so it gets two of its own steps unless the caller requested another tolerance.
LEAPP_EXPORT Tolerance tolerance_for(DType dtype, const Tolerance& asked) noexcept;
/// Returns the tolerance for one of several outputs, by the least precise type in its computation,
/// or the requested tolerance if that type is unknown.
LEAPP_EXPORT Tolerance tolerance_for(std::span<const DType> precisions, std::size_t output,
                                     const Tolerance& asked) noexcept;
/// Returns `asked` for floating-point and complex elements, and kExact for all others.
LEAPP_EXPORT Tolerance exact_unless_rounded(DType dtype, const Tolerance& asked) noexcept;

/// Returns "rtol=0.001, atol=1e-05".
LEAPP_EXPORT std::string to_string(const Tolerance& tolerance);

}  // namespace leapp
