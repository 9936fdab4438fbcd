// LU, Cholesky and QR, unrolled step by step.
#include <algorithm>

#include "export/onnx/linalg.h"
#include "export/onnx/ops.h"

namespace leapp::onnx_export {
namespace {

/// Returns a block of each matrix, from row r0 to r1 and from column c0 to c1.
Value block(Value a, std::int64_t r0, std::int64_t r1, std::int64_t c0, std::int64_t c1) {
  return slice(slice(a, 1, r0, r1), 2, c0, c1);
}

Value row_numbers(Builder& builder, std::int64_t rows) {
  return reshape(iota(builder, rows), {1, rows});
}

/// Returns the order of rows that exchanges row `k` with row `other` ([batch, 1]) and keeps the
/// rest.
Value exchange(std::int64_t k, Value other, std::int64_t rows) {
  Builder& builder = other.builder();
  const Value numbers = row_numbers(builder, rows);
  const Value at_k = scalar_int(builder, DType::kInt64, k);
  return where(equal(numbers, at_k), other, where(equal(numbers, other), at_k, numbers));
}

Value first_step(Value found_before, Value failed, std::int64_t k) {
  const Value now = where(failed, scalar_int(failed.builder(), DType::kInt64, k + 1), 0.0);
  return where(equal(found_before, 0.0), now, found_before);
}

Value no_info(Value a) {
  return full(a.builder(), {DType::kInt64, {a.size(0)}}, 0);
}

Value column_mask(Builder& builder, std::int64_t rows, std::int64_t columns, bool upper) {
  Dims bits;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) bits.push_back(upper ? c >= r : c < r);
  }
  return cast(int_tensor(builder, bits, {1, rows, columns}), DType::kBool);
}

}  // namespace

Value identity(Builder& builder, std::int64_t size) {
  std::vector<double> values(static_cast<std::size_t>(size * size), 0.0);
  for (std::int64_t i = 0; i < size; ++i) values[static_cast<std::size_t>(i * size + i)] = 1.0;
  return float_tensor(builder, DType::kFloat64, values, {1, size, size});
}

Value solve_triangular(Value t, Value b, bool upper, bool unit_diagonal) {
  const std::int64_t size = t.size(1);
  Shape shape = {std::max(t.size(0), b.size(0)), size, b.size(2)};
  if (size == 0 || element_count(shape) == 0) return expand(b, shape);
  const Value right = expand(b, shape);
  Value known;  // the solved rows, in order
  for (std::int64_t step = 0; step < size; ++step) {
    const std::int64_t i = upper ? size - 1 - step : step;
    Value row = slice(right, 1, i, i + 1);
    if (known.defined()) {
      const Value factors = upper ? block(t, i, i + 1, i + 1, size) : block(t, i, i + 1, 0, i);
      row = row - matmul(factors, known);
    }
    if (!unit_diagonal) row = row / block(t, i, i + 1, i, i + 1);
    known = !known.defined() ? row : upper ? concat({row, known}, 1) : concat({known, row}, 1);
  }
  return known;
}

Value permute_rows(Value a, Value permutation) {
  const Value index = expand(unsqueeze(permutation, 2), {a.size(0), a.size(1), a.size(2)});
  return gather_elements(a, index, 1);
}

Lu lu_factor(Value a) {
  Builder& builder = a.builder();
  const std::int64_t batch = a.size(0);
  const std::int64_t rows = a.size(1);
  const std::int64_t columns = a.size(2);
  Lu lu;
  lu.info = no_info(a);
  lu.permutation = expand(row_numbers(builder, rows), {batch, rows});
  std::vector<Value> pivots;
  for (std::int64_t k = 0; k < std::min(rows, columns); ++k) {
    const Value sizes = reshape(abs(block(a, k, rows, k, k + 1)), {batch, rows - k});
    const Value offset =
        builder.emit("ArgMax", {sizes}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{1}}},
                     {DType::kInt64, {batch, 1}});
    const Value other = offset + static_cast<double>(k);
    pivots.push_back(other);
    const Value order = exchange(k, other, rows);
    a = permute_rows(a, order);
    lu.permutation = gather_elements(lu.permutation, order, 1);
    const Value pivot = block(a, k, k + 1, k, k + 1);
    const Value none = equal(pivot, 0.0);
    lu.info = first_step(lu.info, reshape(none, {batch}), k);
    if (k + 1 == rows) break;
    const Value below = block(a, k + 1, rows, k, k + 1) / where(none, 1.0, pivot);
    const Value done = slice(a, 1, 0, k + 1);
    std::vector<Value> parts;
    if (k > 0) parts.push_back(block(a, k + 1, rows, 0, k));
    parts.push_back(below);
    if (k + 1 < columns) {
      parts.push_back(block(a, k + 1, rows, k + 1, columns) -
                      matmul(below, block(a, k, k + 1, k + 1, columns)));
    }
    a = concat({done, concat(parts, 2)}, 1);
  }
  lu.packed = a;
  lu.pivots = pivots.empty() ? full(builder, {DType::kInt64, {batch, 0}}, 0) : concat(pivots, 1);
  return lu;
}

Value permutation_from(Value pivots, std::int64_t rows) {
  const std::int64_t batch = pivots.size(0);
  Value permutation = expand(row_numbers(pivots.builder(), rows), {batch, rows});
  for (std::int64_t k = 0; k < pivots.size(1); ++k) {
    permutation = gather_elements(permutation, exchange(k, slice(pivots, 1, k, k + 1), rows), 1);
  }
  return permutation;
}

Value lower_unit(Value packed) {
  const std::int64_t rows = packed.size(1);
  const std::int64_t size = std::min(rows, packed.size(2));
  const Value left = slice(packed, 2, 0, size);
  const Value strict = where(column_mask(packed.builder(), rows, size, false), left, 0.0);
  Value ones = identity(packed.builder(), size);
  if (rows > size) ones = pad_constant(ones, {0, 0, 0}, {0, rows - size, 0}, 0);
  return strict + ones;
}

Value upper_part(Value packed) {
  const std::int64_t size = std::min(packed.size(1), packed.size(2));
  const Value top = slice(packed, 1, 0, size);
  return where(column_mask(packed.builder(), size, packed.size(2), true), top, 0.0);
}

Value solve(const Lu& lu, Value b) {
  const std::int64_t batch = std::max(lu.packed.size(0), b.size(0));
  const Value right = expand(b, {batch, b.size(1), b.size(2)});
  const Value permutation = expand(lu.permutation, {batch, lu.packed.size(1)});
  const Value y =
      solve_triangular(lower_unit(lu.packed), permute_rows(right, permutation), false, true);
  return solve_triangular(upper_part(lu.packed), y, true, false);
}

Value inverse(const Lu& lu) {
  const std::int64_t size = lu.packed.size(1);
  return solve(lu, expand(identity(lu.packed.builder(), size), {lu.packed.size(0), size, size}));
}

Value determinant(Value a) {
  Builder& builder = a.builder();
  const std::int64_t size = a.size(1);
  const std::int64_t batch = a.size(0);
  if (size == 0) return full(builder, {a.dtype(), {batch}}, 1);
  const auto at = [&](std::int64_t r, std::int64_t c) {
    return reshape(block(a, r, r + 1, c, c + 1), {batch});
  };
  if (size == 1) return at(0, 0);
  if (size == 2) return at(0, 0) * at(1, 1) - at(0, 1) * at(1, 0);
  const Lu lu = lu_factor(a);
  const Value diagonal = sum(upper_part(lu.packed) * identity(builder, size), {2});
  const Value moved = not_equal(lu.pivots, row_numbers(builder, size));
  const Value signs = where(moved, scalar(builder, a.dtype(), -1), 1.0);
  return prod(diagonal, {1}) * prod(signs, {1});
}

Cholesky cholesky(Value a) {
  const std::int64_t size = a.size(1);
  Cholesky made;
  made.info = no_info(a);
  Value lower;  // columns so far, [batch, size, k]
  for (std::int64_t k = 0; k < size; ++k) {
    Value rest = block(a, k, size, k, k + 1);
    if (lower.defined()) {
      const Value row = slice(lower, 1, k, k + 1);
      rest = rest - matmul(slice(lower, 1, k, size), transpose(row, 1, 2));
    }
    const Value head = slice(rest, 1, 0, 1);
    made.info = first_step(made.info, reshape(!(head > 0.0), {a.size(0)}), k);
    const Value root = sqrt(head);
    Value column = k + 1 < size ? concat({root, slice(rest, 1, 1, size - k) / root}, 1) : root;
    column = pad_constant(column, {0, k, 0}, {0, 0, 0}, 0);
    lower = lower.defined() ? concat({lower, column}, 2) : column;
  }
  made.lower = lower.defined() ? lower : a;
  return made;
}

Householder householder(Value a) {
  Householder made;
  const std::int64_t rows = a.size(1);
  const std::int64_t columns = a.size(2);
  for (std::int64_t k = 0; k < std::min(rows, columns); ++k) {
    const Value head = block(a, k, k + 1, k, k + 1);
    Value vector = full(a.builder(), {a.dtype(), {a.size(0), 1, 1}}, 1);
    Value factor = full(a.builder(), {a.dtype(), {a.size(0), 1, 1}}, 0);
    if (k + 1 < rows) {
      const Value below = block(a, k + 1, rows, k, k + 1);
      const Value length = sqrt(sum(square(below), {1}, true));
      const Value nothing = equal(length, 0.0);
      const Value whole = sqrt(square(head) + square(length));
      const Value beta = where(head < 0.0, whole, -whole);
      factor = where(nothing, 0.0, (beta - head) / where(nothing, 1.0, beta));
      vector = concat({vector, below / where(nothing, 1.0, head - beta)}, 1);
      vector = pad_constant(vector, {0, k, 0}, {0, 0, 0}, 0);
      a = a - matmul(vector * factor, matmul(transpose(vector, 1, 2), a));
    } else {
      vector = pad_constant(vector, {0, k, 0}, {0, 0, 0}, 0);
    }
    made.vectors.push_back(vector);
    made.factors.push_back(factor);
  }
  made.triangle = where(column_mask(a.builder(), rows, columns, true), a, 0.0);
  return made;
}

Value apply_reflectors(const Householder& reflectors, Value x, bool transposed) {
  const std::size_t count = reflectors.vectors.size();
  for (std::size_t step = 0; step < count; ++step) {
    const std::size_t i = transposed ? step : count - 1 - step;
    const Value v = reflectors.vectors[i];
    x = x - matmul(v * reflectors.factors[i], matmul(transpose(v, 1, 2), x));
  }
  return x;
}

}  // namespace leapp::onnx_export
