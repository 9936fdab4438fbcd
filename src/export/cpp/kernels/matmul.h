// The product of two variable matrices with any strides.
#include "numbers.h"

// y [kRows, kColumns], contiguous.
template <Index kRows, Index kInner, Index kColumns, typename T>
inline void matmul(const T* a, Index a_row, Index a_column, const T* b, Index b_row, Index b_column,
                   T* y) {
  for (Index row = 0; row < kRows; ++row) {
    T* out = y + row * kColumns;
    for (Index column = 0; column < kColumns; ++column) out[column] = T(0);
    for (Index k = 0; k < kInner; ++k) {
      const T factor = a[row * a_row + k * a_column];
      const T* other = b + k * b_row;
      for (Index column = 0; column < kColumns; ++column) {
        out[column] = add(out[column], multiply(factor, other[column * b_column]));
      }
    }
  }
}
