// Functions of one number, by PyTorch's definitions.
#include "exponential.h"
#include "numbers.h"

template <typename T>
inline T abs(T x) {
  if constexpr (kIsFloat<T>) return std::fabs(x);
  else if constexpr (std::is_unsigned_v<T>) return x;
  else return x < T(0) ? negative(x) : x;
}
template <typename T>
inline T exp(T x) {
  if constexpr (std::is_same_v<T, float>) return exp_of_float(x);
  else return std::exp(x);
}
template <typename T>
inline T expm1(T x) {
  if constexpr (std::is_same_v<T, float>) return expm1_of_float(x);
  else return std::expm1(x);
}
template <typename T>
inline T log(T x) { return std::log(x); }
template <typename T>
inline T tanh(T x) {
  if constexpr (std::is_same_v<T, float>) return tanh_of_float(x);
  else return std::tanh(x);
}
template <typename T>
inline T erf(T x) {
  if constexpr (std::is_same_v<T, float>) return erf_of_float(x);
  else return std::erf(x);
}
template <typename T>
inline T sqrt(T x) { return std::sqrt(x); }
template <typename T>
inline T rsqrt(T x) { return T(1) / std::sqrt(x); }
