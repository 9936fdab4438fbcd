// Activations, by PyTorch's definitions.
#include "math.h"

template <typename T>
inline T relu(T x) {
  return x < T(0) ? T(0) : x;
}
template <typename T>
inline T sigmoid(T x) {
  if constexpr (std::is_same_v<T, float>)
    return sigmoid_of_float(x);
  else
    return T(1) / (T(1) + exp(-x));
}
template <typename T>
inline T elu(T x, T alpha, T scale, T input_scale) {
  const T below =
      scale * alpha * expm1(x * input_scale);  // no branch, so that loops are vectorised
  return x > T(0) ? scale * x : below;
}
template <typename T>
inline T celu(T x, T alpha) {
  return x > T(0) ? x : alpha * expm1(x / alpha);
}
template <typename T>
inline T silu(T x) {
  return x * sigmoid(x);
}
template <typename T>
inline T gelu(T x) {
  return T(0.5) * x * (T(1) + erf(x * T(0.70710678118654752440)));
}
template <typename T>
inline T gelu_tanh(T x) {
  return T(0.5) * x * (T(1) + tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
}
template <typename T>
inline T leaky_relu(T x, T slope) {
  return x > T(0) ? x : x * slope;
}
template <typename T>
inline T clamp(T x, T low, T high) {
  return minimum(maximum(x, low), high);
}
template <typename T>
inline T softplus(T x, T beta, T threshold) {
  return x * beta > threshold ? x : log1p(exp(x * beta)) / beta;
}
template <typename T>
inline T log_sigmoid(T x) {
  return minimum(x, T(0)) - log1p(exp(-abs(x)));
}
template <typename T>
inline T mish(T x) {
  return x * tanh(x > T(20) ? x : log1p(exp(x)));
}
template <typename T>
inline T hardsigmoid(T x) {
  return clamp(x + T(3), T(0), T(6)) / T(6);
}
template <typename T>
inline T hardswish(T x) {
  return x * clamp(x + T(3), T(0), T(6)) / T(6);
}
template <typename T>
inline T threshold(T x, T limit, T value) {
  return x <= limit ? value : x;
}
template <typename T>
inline T hardshrink(T x, T limit) {
  return x >= -limit && x <= limit ? T(0) : x;
}
template <typename T>
inline T softshrink(T x, T limit) {
  if (x > limit) return x - limit;
  return x < -limit ? x + limit : x * T(0);
}
template <typename T>
inline T logit(T x, T eps) {
  const T inside = eps < T(0) ? x : minimum(maximum(x, eps), T(1) - eps);
  return log(inside / (T(1) - inside));
}
template <typename T>
inline T huber_loss(T difference, T delta) {
  const T size = abs(difference);
  return size < delta ? T(0.5) * size * size : delta * (size - T(0.5) * delta);
}
template <typename T>
inline T smooth_l1_loss(T difference, T beta) {
  const T size = abs(difference);
  return size < beta ? T(0.5) * size * size / beta : size - T(0.5) * beta;
}
