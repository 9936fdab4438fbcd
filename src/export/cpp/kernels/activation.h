// Activations, by PyTorch's definitions.
#include "math.h"

template <typename T>
inline T relu(T x) { return x < T(0) ? T(0) : x; }
template <typename T>
inline T sigmoid(T x) {
  if constexpr (std::is_same_v<T, float>) return sigmoid_of_float(x);
  else return T(1) / (T(1) + exp(-x));
}
template <typename T>
inline T elu(T x, T alpha, T scale, T input_scale) {
  const T below = scale * alpha * expm1(x * input_scale);  // not in a branch: loops become vectors
  return x > T(0) ? scale * x : below;
}
template <typename T>
inline T silu(T x) { return x * sigmoid(x); }
template <typename T>
inline T gelu(T x) { return T(0.5) * x * (T(1) + erf(x * T(0.70710678118654752440))); }
template <typename T>
inline T gelu_tanh(T x) {
  return T(0.5) * x * (T(1) + tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
}
template <typename T>
inline T leaky_relu(T x, T slope) { return x > T(0) ? x : x * slope; }
template <typename T>
inline T clamp(T x, T low, T high) { return minimum(maximum(x, low), high); }
template <typename T>
inline T softplus(T x, T beta, T threshold) {
  return x * beta > threshold ? x : std::log1p(exp(x * beta)) / beta;
}
template <typename T>
inline T log_sigmoid(T x) { return (x < T(0) ? x : T(0)) - std::log1p(exp(-abs(x))); }
template <typename T>
inline T mish(T x) { return x * tanh(x > T(20) ? x : std::log1p(exp(x))); }
template <typename T>
inline T hardsigmoid(T x) { return clamp(x + T(3), T(0), T(6)) / T(6); }
template <typename T>
inline T hardswish(T x) { return x * clamp(x + T(3), T(0), T(6)) / T(6); }
