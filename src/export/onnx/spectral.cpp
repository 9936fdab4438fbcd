// Converters of results of eigenvalues and singular values, including the pseudoinverse.
#include <algorithm>
#include <limits>

#include "export/onnx/linalg.h"
#include "export/onnx/math.h"
#include "export/onnx/registry.h"
#include "export/onnx/signs.h"

namespace leapp::onnx_export {
namespace {

/// Returns the symmetric matrix of which only one triangle is read.
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
  context.fail(
      std::string("its ") + what +
          " are defined only up to their signs, and ONNX would choose other signs than PyTorch",
      "Use only the values, use products in which the signs cancel (U @ Vh, V @ diag(w) @ V.mT), "
      "or export the node with export_with='jit'.");
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

/// Returns singular values in descending order. Squares of float32 numbers are exact in double
/// precision.
Value singular_values(Value a) {
  const Value gram =
      a.size(1) < a.size(2) ? matmul(a, matrix_transpose(a)) : matmul(matrix_transpose(a), a);
  const Value squares = symmetric_eigen(gram).values;
  const Dims last = {1};
  return flip(sqrt(maximum(squares, scalar_like(squares, 0))), last);
}

/// Sets both kinds of singular vectors, for outputs that do not depend on their signs.
void set_singular_vectors(OpContext& context, Value a) {
  const bool cancel = signs_cancel(context.graph(), {{context.op().result(0), Vectors::kColumns},
                                                     {context.op().result(2), Vectors::kRows}});
  if (!cancel) refuse_vectors(context, "singular vectors");
  context.need(a.size(1) == a.size(2) || !context.flag("full_matrices"),
               "it also returns vectors that belong to no singular value",
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

/// Returns the pseudoinverse; singular values up to `cutoff` ([batch, 1], from the largest) count
/// as 0.
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

void refuse_complex(OpContext& context) {
  context.fail("its results are complex, and ONNX Runtime has no complex tensors",
               "Use torch.linalg.eigh for symmetric matrices, or export_with='jit'.");
}

}  // namespace

void register_spectral(ConverterRegistry& registry) {
  registry.add("aten::_linalg_eigh", convert_eigh);
  registry.add("aten::_linalg_svd", convert_svd);
  registry.add("aten::linalg_pinv.atol_rtol_tensor", convert_pinv);
  registry.add("aten::linalg_lstsq", convert_lstsq);
  registry.add({"aten::linalg_eig", "aten::_linalg_eigvals", "aten::linalg_eigvals"},
               refuse_complex);
}

}  // namespace leapp::onnx_export
