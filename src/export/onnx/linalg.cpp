// Converters of linear algebra.
#include "export/onnx/linalg.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "export/onnx/math.h"
#include "export/onnx/registry.h"
#include "export/onnx/signs.h"

namespace leapp::onnx_export {
namespace {

Value matrix_transpose(Value a) {
  return transpose(a, 1, 2);
}

/// A right-hand side beside [batch, n, n] matrices: its batch dimensions may broadcast.
struct System {
  Value a;
  Value b;
  Shape shape;  ///< of the solution
};

System system_of(OpContext& context, Value a, Value b) {
  const Shape outer = broadcast(Shape(a.shape().begin(), a.shape().end() - 2),
                                Shape(b.shape().begin(), b.shape().end() - 2));
  const auto spread = [&](Value x) {
    Shape shape = outer;
    shape.insert(shape.end(), x.shape().end() - 2, x.shape().end());
    return as_matrices(context, expand(x, shape));
  };
  Shape shape = outer;
  shape.push_back(a.size(-1));
  shape.push_back(b.size(-1));
  return {spread(a), spread(b), shape};
}

void set_info(OpContext& context, std::size_t i, Value info) {
  context.set(i, cast(reshape(info, context.result_shape(i)), context.result_dtype(i)));
}

// ---- products and closed forms ----

Value convert_cross(OpContext& context) {
  const DType dtype = context.result_dtype();
  const Shape& shape = context.result_shape();
  const Value a = expand(cast(context.tensor("self"), dtype), shape);
  const Value b = expand(cast(context.tensor("other"), dtype), shape);
  const std::int64_t dim = context.integer("dim", -1);
  const Dims next = {1, 2, 0};
  const Dims after = {2, 0, 1};
  const auto turned = [&](Value x, const Dims& order) {
    return gather(x, int_vector(context.builder(), order), dim);
  };
  return turned(a, next) * turned(b, after) - turned(a, after) * turned(b, next);
}

void convert_det(OpContext& context) {
  const Value a = as_matrices(context, context.tensor("A"));
  context.set(0, as_result(context, 0, determinant(a)));
}

void convert_slogdet(OpContext& context) {
  const Value det = determinant(as_matrices(context, context.tensor("A")));
  context.set(0, as_result(context, 0, sign(det)));
  context.set(1, as_result(context, 1, log(abs(det))));
}

void convert_inv(OpContext& context) {
  const Value a = as_matrices(context, context.tensor("A"));
  context.set(0, as_result(context, 0, inverse(a)));
  if (context.is_used(1)) set_info(context, 1, lu_factor(a).info);
}

void convert_solve(OpContext& context) {
  const bool left = context.flag("left");
  Value a = context.tensor("A");
  Value b = context.tensor("B");
  const bool vector = context.result_shape().size() + 1 == a.shape().size() || b.rank() == 1;
  if (vector) b = unsqueeze(b, -1);
  if (!left) {
    a = transpose(a, -2, -1);
    if (!vector) b = transpose(b, -2, -1);
  }
  const System system = system_of(context, a, b);
  Value x = reshape(solve(system.a, system.b), system.shape);
  if (!left && !vector) x = transpose(x, -2, -1);
  context.set(0, as_result(context, 0, x));
  if (context.result_count() > 3 && context.is_used(3)) {
    set_info(context, 3, lu_factor(as_matrices(context, context.tensor("A"))).info);
  }
}

/// Keeps one triangle of A, for routines that promise to read no more.
Value solve_with_triangle(OpContext& context, Value a, Value b, bool upper, bool left, bool unit) {
  if (!left) {
    a = transpose(a, -2, -1);
    b = transpose(b, -2, -1);
    upper = !upper;
  }
  const System system = system_of(context, a, b);
  const Value x = reshape(solve_triangular(system.a, system.b, upper, unit), system.shape);
  return left ? x : transpose(x, -2, -1);
}

Value convert_solve_triangular(OpContext& context) {
  return as_result(context, 0,
                   solve_with_triangle(context, context.tensor("self"), context.tensor("B"),
                                       context.flag("upper"), context.flag("left"),
                                       context.flag("unitriangular")));
}

void convert_triangular_solve(OpContext& context) {
  const Value a = context.tensor("A");
  const bool transposed = context.flag("transpose");
  const Value used = transposed ? transpose(a, -2, -1) : a;
  const bool upper = context.flag("upper") != transposed;
  context.set(0, as_result(context, 0,
                           solve_with_triangle(context, used, context.tensor("self"), upper, true,
                                               context.flag("unitriangular"))));
  context.set(1, expand(a, context.result_shape(1)));
}

// ---- factorisations ----

void set_lu(OpContext& context, std::size_t first, const Lu& lu) {
  context.set(first, as_result(context, first, lu.packed));
  context.set(first + 1, cast(reshape(lu.pivots + 1.0, context.result_shape(first + 1)),
                              context.result_dtype(first + 1)));
}

void convert_lu_factor(OpContext& context) {
  context.need(!context.has("pivot") || context.flag("pivot"), "it factors without pivoting");
  const Lu lu = lu_factor(as_matrices(context, context.tensor("A")));
  set_lu(context, 0, lu);
  set_info(context, 2, lu.info);
}

/// P with P[permutation[j], j] = 1.
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
  // X A = B is A^T X^T = B^T, which undoes an adjoint.
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

void convert_cholesky_ex(OpContext& context) {
  Value a = as_matrices(context, context.tensor("self"));
  const bool upper = context.flag("upper");
  if (upper) a = matrix_transpose(a);
  const Cholesky made = cholesky(a);
  context.set(0, as_result(context, 0, upper ? matrix_transpose(made.lower) : made.lower));
  set_info(context, 1, made.info);
}

Value convert_cholesky(OpContext& context) {
  Value a = as_matrices(context, context.tensor("self"));
  const bool upper = context.flag("upper");
  if (upper) a = matrix_transpose(a);
  const Value lower = cholesky(a).lower;
  return as_result(context, 0, upper ? matrix_transpose(lower) : lower);
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
    // A reflector without its leading one goes below the diagonal.
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

/// Reflectors as geqrf packs them.
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

// ---- eigenvalues ----

/// The symmetric matrix of which only one triangle is looked at.
Value symmetric(Value a, bool upper) {
  const std::int64_t size = a.size(1);
  Dims bits;
  for (std::int64_t r = 0; r < size; ++r) {
    for (std::int64_t c = 0; c < size; ++c) bits.push_back(upper ? c >= r : c <= r);
  }
  const Value mask = cast(int_tensor(a.builder(), bits, {1, size, size}), DType::kBool);
  return where(mask, a, matrix_transpose(a));
}

void refuse_vectors(OpContext& context, const char* what) {
  context.fail(std::string("its ") + what +
                   " are only defined up to their signs, and ONNX would choose other ones than "
                   "PyTorch",
               "Use the values only, or where signs cancel (U @ Vh, V @ diag(w) @ V.mT), or export "
               "the node with export_with='jit'.");
}

using Vectors = FreeVectors::Axis;

void convert_eigh(OpContext& context) {
  if (context.is_used(1) &&
      !signs_cancel(context.graph(), {{context.op().result(1), Vectors::kColumns}})) {
    refuse_vectors(context, "eigenvectors");
  }
  const Value a = symmetric(as_matrices(context, context.tensor("A")), context.text("UPLO") == "U");
  const Eigen eigen = symmetric_eigen(a);
  context.set(0, as_result(context, 0, eigen.values));
  if (context.is_used(1)) context.set(1, as_result(context, 1, eigen.vectors));
}

void need_single(OpContext& context, Value x) {
  context.need(x.dtype() != DType::kFloat64,
               "its singular values would not be exact in double precision",
               "Convert to float32 first.");
}

/// Singular values, descending. Squares of float32 numbers keep their digits in a double.
Value singular_values(Value a) {
  const Value gram =
      a.size(1) < a.size(2) ? matmul(a, matrix_transpose(a)) : matmul(matrix_transpose(a), a);
  const Value squares = symmetric_eigen(gram).values;
  const Dims last = {1};
  return flip(sqrt(maximum(squares, scalar_like(squares, 0))), last);
}

/// Both kinds of singular vectors, for outputs that their signs do not reach.
void set_singular_vectors(OpContext& context, Value a) {
  const bool cancel = signs_cancel(context.graph(), {{context.op().result(0), Vectors::kColumns},
                                                     {context.op().result(2), Vectors::kRows}});
  if (!cancel) refuse_vectors(context, "singular vectors");
  context.need(a.size(1) == a.size(2) || !context.flag("full_matrices"),
               "it also wants vectors that belong to no singular value",
               "Pass full_matrices=False.");
  const bool wide = a.size(1) < a.size(2);
  const Value tall = wide ? matrix_transpose(a) : a;
  const Eigen eigen = symmetric_eigen(matmul(matrix_transpose(tall), tall));
  const Dims last = {1};
  const Dims columns = {2};
  const Value squares = maximum(eigen.values, scalar_like(eigen.values, 0));
  const Value values = unsqueeze(flip(sqrt(squares), last), 1);
  const Value right = flip(eigen.vectors, columns);
  const Value left = matmul(tall, right) / where(equal(values, 0.0), 1.0, values);
  context.set(0, as_result(context, 0, wide ? right : left));
  context.set(2, as_result(context, 2, matrix_transpose(wide ? left : right)));
}

void convert_svd(OpContext& context) {
  need_single(context, context.tensor("A"));
  const Value a = as_matrices(context, context.tensor("A"));
  if (context.is_used(0) || context.is_used(2)) set_singular_vectors(context, a);
  if (std::min(a.size(1), a.size(2)) == 0) {
    context.set(1, full(context.builder(), context.result_type(1), 0));
    return;
  }
  context.set(1, as_result(context, 1, singular_values(a)));
}

/// The pseudoinverse; singular values up to `cutoff` ([batch, 1], from the largest) count as 0.
template <typename Cutoff>
Value pseudo_inverse(Value a, Cutoff&& cutoff) {
  const bool wide = a.size(1) < a.size(2);
  const Value at = matrix_transpose(a);
  const Eigen eigen = symmetric_eigen(wide ? matmul(a, at) : matmul(at, a));
  const Value values = sqrt(maximum(eigen.values, scalar_like(a, 0)));
  const Value largest = slice(values, 1, values.size(1) - 1, values.size(1));
  const Value kept = values > cutoff(largest);
  const Value weights = where(kept, reciprocal(where(kept, eigen.values, 1.0)), 0.0);
  const Value core = matmul(eigen.vectors * unsqueeze(weights, 1), matrix_transpose(eigen.vectors));
  return wide ? matmul(at, core) : matmul(core, at);
}

double default_tolerance(Value a) {
  return static_cast<double>(std::max(a.size(-2), a.size(-1))) *
         static_cast<double>(std::numeric_limits<float>::epsilon());
}

void convert_pinv(OpContext& context) {
  const Value given = context.tensor("self");
  need_single(context, given);
  if (given.count() == 0) {
    context.set(0, full(context.builder(), context.result_type(), 0));
    return;
  }
  Value a = as_matrices(context, given);
  if (context.flag("hermitian")) a = symmetric(a, false);
  const auto per_matrix = [&](std::string_view parameter, double otherwise) {
    if (context.is_none(parameter)) return scalar(context.builder(), DType::kFloat64, otherwise);
    const Value tolerance = cast(context.operand(parameter), DType::kFloat64);
    if (tolerance.count() == 1) return reshape(tolerance, {1, 1});
    const Shape outer(given.shape().begin(), given.shape().end() - 2);
    return reshape(expand(tolerance, outer), {a.size(0), 1});
  };
  const bool has_absolute = !context.is_none("atol");
  const Value absolute = per_matrix("atol", 0.0);
  // An absolute tolerance above zero replaces the usual relative one.
  const Value relative = per_matrix("rtol", default_tolerance(given));
  const Value used =
      has_absolute && context.is_none("rtol") ? where(absolute > 0.0, 0.0, relative) : relative;
  const Value result = pseudo_inverse(a, [&](Value largest) {
    return maximum(expand(absolute, broadcast(absolute.shape(), largest.shape())), used * largest);
  });
  context.set(0, as_result(context, 0, result));
}

void convert_lstsq(OpContext& context) {
  const Value given = context.tensor("self");
  need_single(context, given);
  Value b = context.tensor("b");
  const bool vector = b.rank() + 1 == given.rank();
  if (vector) b = unsqueeze(b, -1);
  const System system = system_of(context, given, b);
  const double tolerance = context.number("rcond", default_tolerance(given));
  const Value inverse =
      pseudo_inverse(system.a, [&](Value largest) { return largest * tolerance; });
  const Value x = matmul(inverse, system.b);
  context.set(0, as_result(context, 0, x));
  const auto fill = [&](std::size_t i, auto&& make) {
    if (!context.is_used(i)) return;
    const Type type = context.result_type(i);
    context.set(i, element_count(type.shape) == 0 ? full(context.builder(), type, 0) : make(i));
  };
  fill(1, [&](std::size_t i) {
    return as_result(context, i, sum(square(matmul(system.a, x) - system.b), {1}));
  });
  fill(2, [&](std::size_t i) {
    const Value values = singular_values(as_matrices(context, given));
    const Value kept = values > slice(values, 1, 0, 1) * tolerance;
    return cast(reshape(sum(cast(kept, DType::kInt64), {1}), context.result_shape(i)),
                context.result_dtype(i));
  });
  fill(3, [&](std::size_t i) {
    return as_result(context, i, singular_values(as_matrices(context, given)));
  });
}

/// sum over the expanded and summed dimensions of a product of three.
Value convert_trilinear(OpContext& context) {
  const auto raised = [&](const char* parameter, const char* dims) {
    Value x = context.tensor(parameter);
    for (const std::int64_t dim : context.ints(dims)) x = unsqueeze(x, dim);
    return x;
  };
  const Value product = raised("i1", "expand1") * raised("i2", "expand2") * raised("i3", "expand3");
  return sum(product, context.ints("sumdim"));
}

void refuse_complex(OpContext& context) {
  context.fail("its results are complex, and ONNX Runtime has no complex tensors",
               "Use torch.linalg.eigh for symmetric matrices, or export_with='jit'.");
}

}  // namespace

Value as_matrices(OpContext& context, Value x) {
  const std::int64_t rows = x.size(-2);
  const std::int64_t columns = x.size(-1);
  context.need(std::max(rows, columns) <= kMaxMatrixSize || std::min(rows, columns) <= 4,
               "matrices of " + std::to_string(rows) + " x " + std::to_string(columns) +
                   " are beyond the " + std::to_string(kMaxMatrixSize) + " x " +
                   std::to_string(kMaxMatrixSize) + " that are written out for ONNX");
  const std::int64_t batch = element_count(Shape(x.shape().begin(), x.shape().end() - 2));
  return reshape(cast(x, DType::kFloat64), {batch, rows, columns});
}

Value as_result(OpContext& context, std::size_t i, Value matrices) {
  const Type type = context.result_type(i);
  return cast(reshape(matrices, type.shape), type.dtype);
}

void register_linalg(ConverterRegistry& registry) {
  registry.add("aten::linalg_cross", convert_cross);
  registry.add("aten::_linalg_det", convert_det);
  registry.add("aten::_linalg_slogdet", convert_slogdet);
  registry.add("aten::linalg_inv_ex", convert_inv);
  registry.add("aten::_linalg_solve_ex", convert_solve);
  registry.add("aten::linalg_solve_triangular", convert_solve_triangular);
  registry.add("aten::triangular_solve", convert_triangular_solve);
  registry.add("aten::linalg_lu_factor_ex", convert_lu_factor);
  registry.add("aten::linalg_lu", convert_lu);
  registry.add("aten::lu_unpack", convert_lu_unpack);
  registry.add("aten::linalg_lu_solve", convert_lu_solve);
  registry.add("aten::linalg_cholesky_ex", convert_cholesky_ex);
  registry.add("aten::cholesky", convert_cholesky);
  registry.add("aten::cholesky_solve", convert_cholesky_solve);
  registry.add("aten::cholesky_inverse", convert_cholesky_inverse);
  registry.add("aten::linalg_qr", convert_qr);
  registry.add("aten::geqrf", convert_geqrf);
  registry.add("aten::linalg_householder_product", convert_householder_product);
  registry.add("aten::ormqr", convert_ormqr);
  registry.add("aten::_linalg_eigh", convert_eigh);
  registry.add("aten::_linalg_svd", convert_svd);
  registry.add("aten::linalg_pinv.atol_rtol_tensor", convert_pinv);
  registry.add("aten::linalg_lstsq", convert_lstsq);
  registry.add("aten::_trilinear", convert_trilinear);
  registry.add({"aten::linalg_eig", "aten::_linalg_eigvals", "aten::linalg_eigvals"},
               refuse_complex);
}

}  // namespace leapp::onnx_export
