#include "export/onnx/antialias.h"

#include <algorithm>
#include <cmath>

#include "export/onnx/ops.h"

namespace leapp::onnx_export {
namespace {

/// The inputs that contribute to one output element.
template <typename Real>
struct Window {
  std::int64_t first = 0;
  std::vector<Real> weights;
};

template <typename Real>
std::vector<Window<Real>> windows(const Axis& axis, bool align, bool cubic) {
  constexpr Real kHalf{0.5};
  Real scale = static_cast<Real>(axis.scale);
  if (align) {
    scale = axis.output > 1 ? static_cast<Real>(axis.input - 1) / static_cast<Real>(axis.output - 1)
                            : Real{0};
  }
  const Real reach = (cubic ? Real{2} : Real{1}) * std::max(scale, Real{1});
  const Real squeeze = scale >= 1 ? 1 / scale : Real{1};
  std::vector<Window<Real>> found;
  for (std::int64_t o = 0; o < axis.output; ++o) {
    const Real center = scale * (static_cast<Real>(o) + kHalf);
    Window<Real> window;
    window.first = std::max<std::int64_t>(static_cast<std::int64_t>(center - reach + kHalf), 0);
    const auto last =
        std::min<std::int64_t>(static_cast<std::int64_t>(center + reach + kHalf), axis.input);
    Real total = 0;
    for (std::int64_t i = window.first; i < last; ++i) {
      const Real distance = (static_cast<Real>(i) - center + kHalf) * squeeze;
      window.weights.push_back(cubic ? cubic_weight(distance, Real{-0.5})
                                     : std::max(1 - std::fabs(distance), Real{0}));
      total += window.weights.back();
    }
    for (Real& weight : window.weights) weight /= total;
    found.push_back(std::move(window));
  }
  return found;
}

}  // namespace

std::vector<double> antialiasing_weights(const Axis& axis, bool align, bool cubic) {
  std::vector<double> matrix(static_cast<std::size_t>(axis.input * axis.output), 0.0);
  const std::vector<Window<double>> found = windows<double>(axis, align, cubic);
  for (std::size_t o = 0; o < found.size(); ++o) {
    for (std::size_t i = 0; i < found[o].weights.size(); ++i) {
      const std::size_t row = static_cast<std::size_t>(found[o].first) + i;
      matrix[row * static_cast<std::size_t>(axis.output) + o] = found[o].weights[i];
    }
  }
  return matrix;
}

Value antialiased_exactly(Value x, const Axis& axis, bool align, bool cubic) {
  const std::vector<Window<float>> found = windows<float>(axis, align, cubic);
  std::size_t taps = 0;
  for (const Window<float>& window : found) taps = std::max(taps, window.weights.size());
  Shape along(x.shape().size(), 1);
  along[static_cast<std::size_t>(axis.dim)] = axis.output;
  // A product of two floats is exact in double precision, so rounding the sum once equals a fused
  // operation.
  const Value exact = cast(x, DType::kFloat64);
  Value sum;
  for (std::size_t tap = 0; tap < taps; ++tap) {
    Dims positions;
    std::vector<double> weights;
    for (const Window<float>& window : found) {
      const bool inside = tap < window.weights.size();
      positions.push_back(std::min(window.first + static_cast<std::int64_t>(tap), axis.input - 1));
      weights.push_back(inside ? static_cast<double>(window.weights[tap]) : 0.0);
    }
    const Value taken = gather(exact, int_vector(x.builder(), positions), axis.dim);
    const Value part = taken * float_tensor(x.builder(), DType::kFloat64, weights, along);
    const Value next = sum.defined() ? cast(sum, DType::kFloat64) + part : part;
    sum = cast(next, DType::kFloat32);
  }
  return sum;
}

}  // namespace leapp::onnx_export
