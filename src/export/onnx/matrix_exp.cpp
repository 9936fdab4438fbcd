// The exponential of a matrix, by the same polynomial and precision as in PyTorch, so both lose the
// same digits if large terms cancel.
#include <array>
#include <cmath>

#include "export/onnx/linalg.h"
#include "export/onnx/math.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

// Bader, Blanes and Casas, "Computing the matrix exponential with an optimized Taylor polynomial
// approximation": degree 18 with five products. Row i computes B_i from 1, A, A^2, A^3 and A^6.
constexpr std::array<std::array<double, 5>, 5> kTaylor18 = {{
    {0, -1.00365581030144618291e-01, -8.02924648241156932449e-03, -8.92138498045729985177e-04, 0},
    {0, 3.97849749499645077844e-01, 1.36783778460411720168e+00, 4.98289622525382669416e-01,
     -6.37898194594723280150e-04},
    {-1.09676396052962061844e+01, 1.68015813878906206114e+00, 5.71779846478865511061e-02,
     -6.98210122488052056106e-03, 3.34975017086070470649e-05},
    {-9.04316832390810593223e-02, -6.76404519071381882256e-02, 6.75961301770459654925e-02,
     2.95552570429315521194e-02, -1.39180257516060693404e-05},
    {0, 0, -9.23364619367118555360e-02, -1.69364939002081722752e-02, -1.40086798182036094347e-05},
}};
// Up to this norm the polynomial is exact to machine precision.
constexpr double kNormSingle = 3.010066362817634;
constexpr double kNormDouble = 1.090863719290036;
constexpr int kMaxSquarings = 20;

Value taylor18(Value a) {
  const Value one = cast(identity(a.builder(), a.size(1)), a.dtype());
  const Value a2 = matmul(a, a);
  const Value a3 = matmul(a, a2);
  const std::array powers = {one, a, a2, a3, matmul(a3, a3)};
  const auto combined = [&](std::size_t row) {
    Value total;
    for (std::size_t i = 0; i < powers.size(); ++i) {
      if (kTaylor18[row][i] == 0) continue;
      const Value term = powers[i] * kTaylor18[row][i];
      total = total.defined() ? total + term : term;
    }
    return total;
  };
  const Value a9 = matmul(combined(0), combined(4)) + combined(3);
  return combined(1) + matmul(combined(2) + a9, a9);
}

Value convert_matrix_exp(OpContext& context) {
  const Value a = cast(as_matrices(context, context.tensor("self")), context.result_dtype());
  if (a.count() == 0) return as_result(context, 0, a);
  const double threshold = a.dtype() == DType::kFloat64 ? kNormDouble : kNormSingle;
  const Value norm = cast(amax(sum(abs(a), {1}), {1}, true), DType::kFloat64);
  Value squarings = full(context.builder(), {DType::kFloat64, {a.size(0), 1}}, 0);
  for (int i = 0; i < kMaxSquarings; ++i) {
    squarings = squarings + cast(norm > threshold * std::ldexp(1.0, i), DType::kFloat64);
  }
  const Value count = unsqueeze(squarings, 2);
  Value result = taylor18(a / cast(pow(scalar_like(count, 2), count), a.dtype()));
  for (int i = 0; i < kMaxSquarings; ++i) {
    result = where(count > static_cast<double>(i), matmul(result, result), result);
  }
  return as_result(context, 0, result);
}

}  // namespace

void register_matrix_exp(ConverterRegistry& registry) {
  registry.add("aten::linalg_matrix_exp", convert_matrix_exp);
}

}  // namespace leapp::onnx_export
