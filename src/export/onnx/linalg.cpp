// Converters of linear algebra: products, determinants and systems of equations.
#include "export/onnx/linalg.h"

#include <algorithm>

#include "export/onnx/math.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

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
  const Lu lu = lu_factor(as_matrices(context, context.tensor(context.has("A") ? "A" : "self")));
  context.set(0, as_result(context, 0, checked(context, inverse(lu), lu.info)));
  if (context.result_count() > 1) set_info(context, 1, lu.info);
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
  const Lu lu = lu_factor(system.a);
  Value x = reshape(solve(lu, system.b), system.shape);
  if (!left && !vector) x = transpose(x, -2, -1);
  context.set(0, as_result(context, 0, checked(context, x, lu.info)));
  if (context.result_count() > 3 && context.is_used(3)) {
    set_info(context, 3, lu_factor(as_matrices(context, context.tensor("A"))).info);
  }
}

/// Keeps one triangle of A, for routines that read only that triangle.
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

/// Converts a sum over the expanded and summed dimensions of a product of three.
Value convert_trilinear(OpContext& context) {
  const auto raised = [&](const char* parameter, const char* dims) {
    Value x = context.tensor(parameter);
    for (const std::int64_t dim : context.ints(dims)) x = unsqueeze(x, dim);
    return x;
  };
  const Value product = raised("i1", "expand1") * raised("i2", "expand2") * raised("i3", "expand3");
  return sum(product, context.ints("sumdim"));
}

}  // namespace

Value matrix_transpose(Value a) {
  return transpose(a, 1, 2);
}

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

Value checked(OpContext& context, Value result, Value info) {
  // The _ex variants return the number to the caller.
  const bool asked_for = !context.has("check_errors") || context.flag("check_errors");
  if (!asked_for || info.count() == 0) return result;
  // ONNX cannot raise errors. An operation that can fail is reading beyond the end, here of a list
  // with one element.
  const Value failed = cast(any(not_equal(info, 0.0), {0}), DType::kInt64);
  const Value one = full(context.builder(), {result.dtype(), {1}}, 1);
  return result * gather(one, failed, 0);
}

Value as_matrices(OpContext& context, Value x) {
  const std::int64_t rows = x.size(-2);
  const std::int64_t columns = x.size(-1);
  context.need(std::max(rows, columns) <= kMaxMatrixSize || std::min(rows, columns) <= 4,
               "matrices of " + std::to_string(rows) + " x " + std::to_string(columns) +
                   " are beyond the " + std::to_string(kMaxMatrixSize) + " x " +
                   std::to_string(kMaxMatrixSize) + " that LEAPP exports to ONNX");
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
  // Decomposed, their parts would check in an operator without a result.
  registry.add({"aten::linalg_inv_ex", "aten::linalg_inv", "aten::inverse"}, convert_inv);
  registry.add({"aten::_linalg_solve_ex", "aten::linalg_solve"}, convert_solve);
  registry.add("aten::linalg_solve_triangular", convert_solve_triangular);
  registry.add("aten::triangular_solve", convert_triangular_solve);
  registry.add("aten::_trilinear", convert_trilinear);
}

}  // namespace leapp::onnx_export
