// Helpers shared by the special functions. All of them are computed in double precision; most
// are exact to single precision only, and refused on double precision tensors.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "export/onnx/op_context.h"

namespace leapp::onnx_export {

/// Returns the polynomial with these coefficients, the highest power first.
Value polynomial(Value t, std::span<const double> coefficients);
/// Returns the polynomial for coefficients fitted over [low, high].
Value polynomial_over(Value x, double low, double high, std::span<const double> coefficients);

/// Returns the operand in double precision. Fails if the result itself has double precision.
Value special_operand(OpContext& context, std::string_view parameter);

/// Returns a converter that applies `function` to an operand in double precision.
template <typename Function>
auto special(Function function, const char* parameter = "self") {
  return [function, parameter](OpContext& context) -> Value {
    return cast(function(special_operand(context, parameter)), context.result_dtype());
  };
}

Value erfcx(Value x);
Value erfc(Value x);
Value lgamma(Value x);
/// Returns sin(pi x), with the argument reduced before the multiplication with pi.
Value sin_pi(Value x);

}  // namespace leapp::onnx_export
