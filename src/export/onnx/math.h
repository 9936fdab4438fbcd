// Functions without an ONNX operator, implemented so that they agree with PyTorch everywhere: signs
// of zero, infinities, NaN, integers.
#pragma once

#include <utility>

#include "export/onnx/ops.h"

namespace leapp::onnx_export {

/// Returns the most negative and the largest finite number of a floating point type.
std::pair<double, double> finite_range(DType dtype);

/// Returns the smallest and the largest number of an integer type or bool; for uint64 those of
/// int64.
std::pair<std::int64_t, std::int64_t> integer_range(DType dtype);

/// Returns whether the sign bit is set, also for zeros and infinities (NaN counts as positive).
Value sign_bit(Value x);
/// Returns the magnitude of `a` with the sign of `b`.
Value copysign(Value a, Value b);

Value expm1(Value x);
Value log1p(Value x);
/// Returns the logarithm to the base whose natural logarithm is given.
Value log_base(Value x, double log_of_base);
Value tan(Value x);
Value atan(Value x);
Value asin(Value x);
Value acos(Value x);
Value sinh(Value x);
Value cosh(Value x);
Value asinh(Value x);
Value acosh(Value x);
Value atanh(Value x);
Value erf(Value x);
Value atan2(Value y, Value x);
/// Computes without overflow if the result is finite.
Value hypot(Value a, Value b);

/// Returns the maximum or minimum, ignoring NaN in one operand.
Value fmax(Value a, Value b);
Value fmin(Value a, Value b);

/// Returns `x` limited to the bounds, either of which may be undefined; the upper bound takes
/// precedence.
Value clamp(Value x, Value low, Value high);

/// Divides floating-point numbers and integers. An integer divisor of zero, an error in PyTorch,
/// counts as one.
Value floor_divide(Value a, Value b);
Value trunc_divide(Value a, Value b);
/// Returns the remainder with the sign of the divisor, as torch.remainder.
Value floored_remainder(Value a, Value b);
/// Returns the remainder with the sign of the dividend, as torch.fmod.
Value truncated_remainder(Value a, Value b);

/// Returns `x` to the power of a tensor or constant; exact for integers.
Value power(Value x, Value exponent);

}  // namespace leapp::onnx_export
