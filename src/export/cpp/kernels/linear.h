// A linear layer with constant weights: for each row of x, y = f(W x + b).
#include "numbers.h"

// The sum of products. Eight partial sums, so that compilers may use vectors without reordering.
template <Index kCount, typename T>
inline T dot(const T* a, const T* b) {
  constexpr Index kLanes = 8;
  T sums[kLanes] = {};
  constexpr Index kWhole = kCount - kCount % kLanes;
  for (Index i = 0; i < kWhole; i += kLanes) {
    for (Index lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (Index i = kWhole; i < kCount; ++i) sums[i - kWhole] += a[i] * b[i];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

template <typename T, Index kOut, Index kIn>
struct Linear {
  const T* weight;  // [kOut, kIn]
  const T* bias;    // [kOut]; null: none

  void prepare(const T* given_weight, const T* given_bias) {
    weight = given_weight;
    bias = given_bias;
  }

  // f is applied to each element before it is written.
  template <Index kRows, typename F>
  void run(const T* x, T* y, F f) const {
    for (Index row = 0; row < kRows; ++row) {
      for (Index n = 0; n < kOut; ++n) {
        const T sum = dot<kIn>(weight + n * kIn, x + row * kIn);
        y[row * kOut + n] = f(bias == nullptr ? sum : sum + bias[n]);
      }
    }
  }
};
