// Small dense matrices, row by row in memory.
#include "numbers.h"

// Computes the factors of a square matrix with exchanged rows, in place. Returns the sign of the
// exchange, or 0 if a pivot is zero.
template <Index kSize, typename T>
inline int factor_lu(T* a, Index* order) {
  int sign = 1;
  bool singular = false;
  for (Index i = 0; i < kSize; ++i) order[i] = i;
  for (Index k = 0; k < kSize; ++k) {
    Index pivot = k;
    for (Index i = k + 1; i < kSize; ++i) {
      if (std::fabs(a[i * kSize + k]) > std::fabs(a[pivot * kSize + k])) pivot = i;
    }
    if (pivot != k) {
      for (Index j = 0; j < kSize; ++j) {
        const T kept = a[k * kSize + j];
        a[k * kSize + j] = a[pivot * kSize + j];
        a[pivot * kSize + j] = kept;
      }
      const Index row = order[k];
      order[k] = order[pivot];
      order[pivot] = row;
      sign = -sign;
    }
    if (a[k * kSize + k] == T(0)) {
      singular = true;
      continue;
    }
    for (Index i = k + 1; i < kSize; ++i) {
      const T factor = a[i * kSize + k] / a[k * kSize + k];
      a[i * kSize + k] = factor;
      for (Index j = k + 1; j < kSize; ++j) a[i * kSize + j] -= factor * a[k * kSize + j];
    }
  }
  return singular ? 0 : sign;
}

// Solves a x = b for several columns; overwrites a. Returns false if a is singular.
template <Index kSize, Index kColumns, typename T>
inline bool solve(T* a, const T* b, T* x) {
  Index order[kSize];
  if (factor_lu<kSize>(a, order) == 0) return false;
  for (Index column = 0; column < kColumns; ++column) {
    for (Index i = 0; i < kSize; ++i) {
      T sum = b[order[i] * kColumns + column];
      for (Index j = 0; j < i; ++j) sum -= a[i * kSize + j] * x[j * kColumns + column];
      x[i * kColumns + column] = sum;
    }
    for (Index i = kSize; i-- > 0;) {
      T sum = x[i * kColumns + column];
      for (Index j = i + 1; j < kSize; ++j) sum -= a[i * kSize + j] * x[j * kColumns + column];
      x[i * kColumns + column] = sum / a[i * kSize + i];
    }
  }
  return true;
}

// Computes the determinant; overwrites a.
template <Index kSize, typename T>
inline T determinant(T* a) {
  Index order[kSize == 0 ? 1 : kSize];
  T result = static_cast<T>(kSize == 0 ? 1 : factor_lu<kSize>(a, order));
  for (Index i = 0; i < kSize; ++i) result *= a[i * kSize + i];
  return result;
}

// Computes the lower factor of a positive definite matrix, of which only one triangle is read.
// Returns false if the matrix is not positive definite.
template <Index kSize, typename T>
inline bool cholesky(const T* a, T* lower) {
  for (Index i = 0; i < kSize; ++i) {
    for (Index j = 0; j < kSize; ++j) lower[i * kSize + j] = T(0);
    for (Index j = 0; j <= i; ++j) {
      T sum = a[i * kSize + j];
      for (Index k = 0; k < j; ++k) sum -= lower[i * kSize + k] * lower[j * kSize + k];
      if (i == j && !(sum > T(0))) return false;
      lower[i * kSize + j] = i == j ? std::sqrt(sum) : sum / lower[j * kSize + j];
    }
  }
  return true;
}

// Solves a triangular system for several columns.
template <Index kSize, Index kColumns, typename T>
inline void solve_triangular(const T* a, const T* b, T* x, bool upper, bool unit) {
  for (Index column = 0; column < kColumns; ++column) {
    for (Index step = 0; step < kSize; ++step) {
      const Index i = upper ? kSize - 1 - step : step;
      T sum = b[i * kColumns + column];
      const Index begin = upper ? i + 1 : 0;
      const Index end = upper ? kSize : i;
      for (Index j = begin; j < end; ++j) sum -= a[i * kSize + j] * x[j * kColumns + column];
      x[i * kColumns + column] = unit ? sum : sum / a[i * kSize + i];
    }
  }
}

// Computes q [kRows, kRows] and r [kRows, kColumns] of a, by Householder reflections; r contains a
// at the start.
template <Index kRows, Index kColumns, typename T>
inline void factor_qr(T* q, T* r) {
  for (Index i = 0; i < kRows; ++i) {
    for (Index j = 0; j < kRows; ++j) q[i * kRows + j] = T(i == j);
  }
  T v[kRows];
  for (Index k = 0; k < (kRows < kColumns ? kRows : kColumns); ++k) {
    T below = T(0);
    for (Index i = k + 1; i < kRows; ++i) below += r[i * kColumns + k] * r[i * kColumns + k];
    if (below == T(0)) continue;
    const T head = r[k * kColumns + k];
    const T norm = std::sqrt(head * head + below);
    const T target = head > T(0) ? -norm : norm;
    T length = below;
    for (Index i = k; i < kRows; ++i) v[i] = r[i * kColumns + k];
    v[k] -= target;
    length += v[k] * v[k];
    for (Index j = k; j < kColumns; ++j) {
      T sum = T(0);
      for (Index i = k; i < kRows; ++i) sum += v[i] * r[i * kColumns + j];
      for (Index i = k; i < kRows; ++i) r[i * kColumns + j] -= T(2) * v[i] * sum / length;
    }
    for (Index i = k + 1; i < kRows; ++i) r[i * kColumns + k] = T(0);
    for (Index i = 0; i < kRows; ++i) {
      T sum = T(0);
      for (Index j = k; j < kRows; ++j) sum += q[i * kRows + j] * v[j];
      for (Index j = k; j < kRows; ++j) q[i * kRows + j] -= T(2) * sum * v[j] / length;
    }
  }
}
