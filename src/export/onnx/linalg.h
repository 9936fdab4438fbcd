// Linear algebra on stacks of small matrices, [batch, rows, columns] in double precision.
//
// ONNX has only the product, so the classic algorithms are unrolled for the known size. The graph
// grows with the size; sizes above kMaxMatrixSize are refused.
#pragma once

#include <vector>

#include "export/onnx/op_context.h"

namespace leapp::onnx_export {

inline constexpr std::int64_t kMaxMatrixSize = 32;

/// Returns the last two dimensions as matrices, the others as one batch, in double precision. Fails
/// if the matrices are too large to unroll the algorithm.
Value as_matrices(OpContext& context, Value x);
/// Converts back to PyTorch's element type and shape.
Value as_result(OpContext& context, std::size_t i, Value matrices);

/// Sets the index of the failing step, as in PyTorch's "info" results.
void set_info(OpContext& context, std::size_t i, Value info);
/// Returns the result; the model fails where PyTorch raises an error: at a failed step, unless the
/// operator does not check.
Value checked(OpContext& context, Value result, Value info);

Value identity(Builder& builder, std::int64_t size);
Value matrix_transpose(Value a);

/// A right-hand side of [batch, n, n] matrices: its batch dimensions may broadcast.
struct System {
  Value a;
  Value b;
  Shape shape;  ///< batch dimensions of the solution
};
System system_of(OpContext& context, Value a, Value b);

/// Solves T x = b for a triangular T.
Value solve_triangular(Value t, Value b, bool upper, bool unit_diagonal);

struct Lu {
  Value packed;       ///< U, and below the diagonal L without its diagonal of ones
  Value pivots;       ///< [batch, steps] int64: the row that each step exchanged with, from 0
  Value permutation;  ///< [batch, rows] int64: row i of the product is row permutation[i] of A
  Value info;         ///< [batch] int64: the first step (from 1) without a pivot, or 0
};
Lu lu_factor(Value a);
/// Returns the order of the rows after the exchanges in `pivots` (from 0).
Value permutation_from(Value pivots, std::int64_t rows);
/// Rows of each matrix in the given order.
Value permute_rows(Value a, Value permutation);
Value lower_unit(Value packed);
Value upper_part(Value packed);
Value solve(const Lu& lu, Value b);
Value inverse(const Lu& lu);
Value determinant(Value a);

struct Cholesky {
  Value lower;
  Value info;  ///< [batch] int64: the first step (from 1) without a square root, or 0
};
Cholesky cholesky(Value a);

struct Householder {
  std::vector<Value> vectors;  ///< [batch, rows, 1] each, with its leading one
  std::vector<Value> factors;  ///< tau, [batch, 1, 1] each
  Value triangle;              ///< R
};
Householder householder(Value a);
/// Applies H_0 H_1 .. to x from the left; `transposed` reverses the order.
Value apply_reflectors(const Householder& reflectors, Value x, bool transposed);

struct Eigen {
  Value values;   ///< [batch, size], ascending
  Value vectors;  ///< [batch, size, size], columns; their signs differ from LAPACK's
};
/// Computes eigenvalues and eigenvectors of symmetric matrices by Jacobi rotations.
Eigen symmetric_eigen(Value a);

}  // namespace leapp::onnx_export
