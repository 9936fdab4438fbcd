// How far apart two values may be and still count as equal, for each purpose that LEAPP has.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include "leapp/dtype.h"
#include "leapp/visibility.h"

namespace leapp {

/// |found - expected| <= atol + rtol * |expected|. The default is that of exported models against
/// what was traced.
struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-5;

  bool operator==(const Tolerance&) const = default;
};

/// No difference at all.
inline constexpr Tolerance kExact{0, 0};
/// The same computation with sums in another order: half an ulp of a float32 is 6e-8.
inline constexpr Tolerance kReordered{1e-6, 1e-6};
/// The same operators run again, perhaps by other kernels.
inline constexpr Tolerance kRepeated{1e-5, 1e-6};
/// A recording replayed, perhaps on another processor.
inline constexpr Tolerance kReplayed{1e-4, 1e-6};
/// The same model in another engine.
inline constexpr Tolerance kTranslated{1e-4, 1e-5};
/// A formula found from several runs, in single precision.
inline constexpr Tolerance kFitted{1e-4, 1e-4};

/// Returns true if two numbers are close. NaN is close to nothing.
inline bool is_close(double found, double expected, const Tolerance& tolerance) noexcept {
  return std::abs(found - expected) <= tolerance.atol + tolerance.rtol * std::abs(expected);
}

/// Returns the tolerance for elements of a type. Half precision is coarser than the default
/// tolerance: unless another one was asked for, it gets two of its own steps.
LEAPP_EXPORT Tolerance tolerance_for(DType dtype, const Tolerance& asked) noexcept;
/// Returns the tolerance for one of several outputs, by the least precise type that each was
/// computed in; the tolerance asked for if that is not known.
LEAPP_EXPORT Tolerance tolerance_for(std::span<const DType> precisions, std::size_t output,
                                     const Tolerance& asked) noexcept;
/// Returns `asked` for floating-point and complex elements, and kExact for all others.
LEAPP_EXPORT Tolerance exact_unless_rounded(DType dtype, const Tolerance& asked) noexcept;

/// Returns "rtol=0.001, atol=1e-05".
LEAPP_EXPORT std::string to_string(const Tolerance& tolerance);

}  // namespace leapp
