// Converters of matrix factorisations: LU, Cholesky, QR.
#include <algorithm>

#include "export/onnx/linalg.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

void set_lu(OpContext& context, std::size_t first, const Lu& lu) {
  context.set(first, as_result(context, first, lu.packed));
  context.set(first + 1, cast(reshape(lu.pivots + 1.0, context.result_shape(first + 1)),
                              context.result_dtype(first + 1)));
}

void convert_lu_factor(OpContext& context) {
  context.need(!context.has("pivot") || context.flag("pivot"), "it factors without pivoting");
  Lu lu = lu_factor(as_matrices(context, context.tensor("A")));
  lu.packed = checked(context, lu.packed, lu.info);
  set_lu(context, 0, lu);
  if (context.result_count() > 2) set_info(context, 2, lu.info);
}

/// Returns P with P[permutation[j], j] = 1.
Value permutation_matrix(Value permutation) {
  const std::int64_t rows = permutation.size(1);
  const Value numbers = reshape(iota(permutation.builder(), rows), {1, rows, 1});
  return cast(equal(numbers, unsqueeze(permutation, 1)), DType::kFloat64);
}

void convert_lu(OpContext& context) {
  context.need(context.flag("pivot"), "it factors without pivoting");
  const Lu lu = lu_factor(as_matrices(context, context.tensor("A")));
  context.set(0, as_result(context, 0, permutation_matrix(lu.permutation)));
  context.set(1, as_result(context, 1, lower_unit(lu.packed)));
  context.set(2, as_result(context, 2, upper_part(lu.packed)));
}

Value pivots_of(OpContext& context, std::string_view parameter) {
  const Value pivots = context.tensor(parameter);
  const std::int64_t steps = pivots.size(-1);
  const std::int64_t batch = element_count(Shape(pivots.shape().begin(), pivots.shape().end() - 1));
  return reshape(cast(pivots, DType::kInt64), {batch, steps}) - 1.0;
}

void convert_lu_unpack(OpContext& context) {
  const Value packed = as_matrices(context, context.tensor("LU_data"));
  if (context.flag("unpack_pivots")) {
    const Value permutation = permutation_from(pivots_of(context, "LU_pivots"), packed.size(1));
    context.set(0, as_result(context, 0, permutation_matrix(permutation)));
  } else if (context.is_used(0)) {
    context.set(0, full(context.builder(), context.result_type(0), 0));
  }
  if (context.flag("unpack_data")) {
    context.set(1, as_result(context, 1, lower_unit(packed)));
    context.set(2, as_result(context, 2, upper_part(packed)));
  } else {
    for (std::size_t i = 1; i < 3; ++i) {
      if (context.is_used(i)) context.set(i, full(context.builder(), context.result_type(i), 0));
    }
  }
}

Value inverse_permutation(Value permutation) {
  const std::int64_t rows = permutation.size(1);
  const Value numbers =
      expand(reshape(iota(permutation.builder(), rows), {1, rows}), permutation.shape());
  return scatter_elements(numbers, permutation, numbers, 1);
}

Value convert_lu_solve(OpContext& context) {
  const bool left = context.flag("left");
  const bool adjoint = context.flag("adjoint");
  Value b = context.tensor("B");
  if (!left) b = transpose(b, -2, -1);
  const Value packed_given = context.tensor("LU");
  const System system = system_of(context, packed_given, b);
  const Shape outer(system.shape.begin(), system.shape.end() - 2);
  Shape pivots_shape = outer;
  pivots_shape.push_back(packed_given.size(-1));
  const Value pivots = expand(context.tensor("pivots"), pivots_shape);
  const Value flat_pivots =
      reshape(cast(pivots, DType::kInt64), {system.a.size(0), packed_given.size(-1)}) - 1.0;
  const Value permutation = permutation_from(flat_pivots, system.a.size(1));
  const Value lower = lower_unit(system.a);
  const Value upper = upper_part(system.a);
  Value x;
  // X A = B equals A^T X^T = B^T, which undoes an adjoint.
  if (left != adjoint) {
    const Value y = solve_triangular(lower, permute_rows(system.b, permutation), false, true);
    x = solve_triangular(upper, y, true, false);
  } else {
    const Value y = solve_triangular(matrix_transpose(upper), system.b, false, false);
    const Value z = solve_triangular(matrix_transpose(lower), y, true, true);
    x = permute_rows(z, inverse_permutation(permutation));
  }
  x = reshape(x, system.shape);
  return as_result(context, 0, left ? x : transpose(x, -2, -1));
}

void convert_cholesky(OpContext& context) {
  Value a = as_matrices(context, context.tensor("self"));
  const bool upper = context.flag("upper");
  if (upper) a = matrix_transpose(a);
  const Cholesky made = cholesky(a);
  const Value lower = checked(context, made.lower, made.info);
  context.set(0, as_result(context, 0, upper ? matrix_transpose(lower) : lower));
  if (context.result_count() > 1) set_info(context, 1, made.info);
}

Value from_cholesky(Value factor, Value b, bool upper) {
  const Value lower = upper ? matrix_transpose(factor) : factor;
  const Value y = solve_triangular(lower, b, false, false);
  return solve_triangular(matrix_transpose(lower), y, true, false);
}

Value convert_cholesky_solve(OpContext& context) {
  const System system = system_of(context, context.tensor("input2"), context.tensor("self"));
  return as_result(context, 0, from_cholesky(system.a, system.b, context.flag("upper")));
}

Value convert_cholesky_inverse(OpContext& context) {
  const Value factor = as_matrices(context, context.tensor("self"));
  const Value one = expand(identity(context.builder(), factor.size(1)), factor.shape());
  return as_result(context, 0, from_cholesky(factor, one, context.flag("upper")));
}

void convert_qr(OpContext& context) {
  const Value a = as_matrices(context, context.tensor("A"));
  const std::string mode = context.text("mode");
  const std::int64_t rows = a.size(1);
  const std::int64_t kept = mode == "complete" ? rows : std::min(rows, a.size(2));
  const Householder made = householder(a);
  if (mode == "r") {
    if (context.is_used(0)) context.set(0, full(context.builder(), context.result_type(0), 0));
  } else {
    const Value start =
        slice(expand(identity(context.builder(), rows), {a.size(0), rows, rows}), 2, 0, kept);
    context.set(0, as_result(context, 0, apply_reflectors(made, start, false)));
  }
  context.set(1, as_result(context, 1, slice(made.triangle, 1, 0, kept)));
}

void convert_geqrf(OpContext& context) {
  const Value a = as_matrices(context, context.tensor("self"));
  const Householder made = householder(a);
  Value packed = made.triangle;
  const std::int64_t columns = a.size(2);
  for (std::size_t k = 0; k < made.vectors.size(); ++k) {
    // A reflector without its leading one is stored below the diagonal.
    const auto column = static_cast<std::int64_t>(k);
    const Value strict = slice(made.vectors[k], 1, column + 1, a.size(1));
    packed =
        packed + pad_constant(strict, {0, column + 1, column}, {0, 0, columns - column - 1}, 0);
  }
  context.set(0, as_result(context, 0, packed));
  std::vector<Value> factors;
  for (const Value& factor : made.factors) factors.push_back(reshape(factor, {a.size(0), 1}));
  context.set(1, factors.empty() ? full(context.builder(), context.result_type(1), 0)
                                 : as_result(context, 1, concat(factors, 1)));
}

/// Reflectors in the packed form of geqrf.
Householder unpacked(OpContext& context, Value packed, Value tau) {
  const std::int64_t rows = packed.size(1);
  const std::int64_t count = tau.size(-1);
  const Value factors = reshape(cast(tau, DType::kFloat64), {packed.size(0), count});
  Householder made;
  for (std::int64_t k = 0; k < count; ++k) {
    const Value one = full(context.builder(), {DType::kFloat64, {packed.size(0), 1, 1}}, 1);
    Value vector = one;
    if (k + 1 < rows) {
      vector = concat({one, slice(slice(packed, 1, k + 1, rows), 2, k, k + 1)}, 1);
    }
    made.vectors.push_back(pad_constant(vector, {0, k, 0}, {0, 0, 0}, 0));
    made.factors.push_back(reshape(slice(factors, 1, k, k + 1), {packed.size(0), 1, 1}));
  }
  return made;
}

Value convert_householder_product(OpContext& context) {
  const Value packed = as_matrices(context, context.tensor("input"));
  const Householder made = unpacked(context, packed, context.tensor("tau"));
  const std::int64_t rows = packed.size(1);
  const Value start = slice(expand(identity(context.builder(), rows), {packed.size(0), rows, rows}),
                            2, 0, packed.size(2));
  return as_result(context, 0, apply_reflectors(made, start, false));
}

Value convert_ormqr(OpContext& context) {
  const Value packed = as_matrices(context, context.tensor("self"));
  const Householder made = unpacked(context, packed, context.tensor("input2"));
  Value x = as_matrices(context, context.tensor("input3"));
  const bool left = context.flag("left");
  const bool transposed = context.flag("transpose");
  if (left) return as_result(context, 0, apply_reflectors(made, x, transposed));
  // X Q is (Q^T X^T)^T.
  x = apply_reflectors(made, matrix_transpose(x), !transposed);
  return as_result(context, 0, matrix_transpose(x));
}

}  // namespace

void register_factorization(ConverterRegistry& registry) {
  registry.add({"aten::linalg_lu_factor_ex", "aten::linalg_lu_factor"}, convert_lu_factor);
  registry.add("aten::linalg_lu", convert_lu);
  registry.add("aten::lu_unpack", convert_lu_unpack);
  registry.add("aten::linalg_lu_solve", convert_lu_solve);
  registry.add({"aten::linalg_cholesky_ex", "aten::linalg_cholesky", "aten::cholesky"},
               convert_cholesky);
  registry.add("aten::cholesky_solve", convert_cholesky_solve);
  registry.add("aten::cholesky_inverse", convert_cholesky_inverse);
  registry.add("aten::linalg_qr", convert_qr);
  registry.add("aten::geqrf", convert_geqrf);
  registry.add("aten::linalg_householder_product", convert_householder_product);
  registry.add("aten::ormqr", convert_ormqr);
}

}  // namespace leapp::onnx_export
