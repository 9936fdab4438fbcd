// Resizing with antialiasing: when shrinking, each output element averages a window of inputs as
// wide as the factor.
#pragma once

#include <cstdint>
#include <vector>

#include "export/onnx/op_context.h"

namespace leapp::onnx_export {

/// One resized dimension.
struct Axis {
  std::int64_t dim;
  std::int64_t input;
  std::int64_t output;
  double scale;  ///< input elements per output element
};

/// Keys' cubic kernel, with the coefficient PyTorch uses.
template <typename Real>
Real cubic_weight(Real distance, Real a) {
  const Real x = distance < 0 ? -distance : distance;
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

/// Returns the weights as an [input, output] matrix, in double precision.
std::vector<double> antialiasing_weights(const Axis& axis, bool align, bool cubic);

/// Resizes one dimension of a float32 tensor in the same steps as PyTorch: weights in single
/// precision, and consecutive fused multiply-adds.
Value antialiased_exactly(Value x, const Axis& axis, bool align, bool cubic);

}  // namespace leapp::onnx_export
