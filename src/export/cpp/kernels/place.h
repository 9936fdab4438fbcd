// Maps indices outside of a dimension back into it.
#include "numbers.h"

template <typename T = Index>
constexpr T clamped(Index place, Index size) {
  return place < 0 ? 0 : (place < size ? place : size - 1);
}
template <typename T = Index>
constexpr T reflected(Index place, Index size) {
  const Index positive = place < 0 ? -place : place;
  return positive < size ? positive : 2 * (size - 1) - positive;
}
template <typename T = Index>
constexpr T wrapped(Index place, Index size) {
  return (place % size + size) % size;
}
