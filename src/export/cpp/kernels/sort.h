// Sorts a row by insertion: stable, without additional memory, and fast for the short rows of a
// policy.
#include "numbers.h"

// NaN compares greater than everything.
template <typename T>
inline bool sorts_before(T a, T b, bool descending) {
  if constexpr (kIsFloat<T>) {
    if (a != a || b != b) return descending ? a != a && b == b : a == a && b != b;
  }
  return descending ? b < a : a < b;
}

template <Index kCount, typename T>
inline void sort_row(T* values, std::int64_t* places, bool descending) {
  for (Index i = 0; i < kCount; ++i) {
    const T value = values[i];
    Index to = i;
    for (; to > 0 && sorts_before(value, values[to - 1], descending); --to) {
      values[to] = values[to - 1];
      places[to] = places[to - 1];
    }
    values[to] = value;
    places[to] = i;
  }
}
