// ONNX operators as functions over typed values, from which converters are built.
//
// Rules that hold for all of them:
//  - operands of one call have the same element type (cast first); shapes broadcast as in NumPy;
//  - if ONNX Runtime has no kernel for the type, the call casts to one that gives exactly the
//    same result and back, or throws an Error of kind kExport with that reason;
//  - dimensions may be negative;
//  - an operation without effect is not emitted (a cast to the same type, a reshape to the same
//  shape).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "export/onnx/builder.h"
#include "export/onnx/value.h"

namespace leapp::onnx_export {

using Dims = std::vector<std::int64_t>;

// ---- constants -------------------------------------------------------------------------------

/// Returns one number as a 0-d tensor.
Value scalar(Builder& builder, DType dtype, double value);
Value scalar_int(Builder& builder, DType dtype, std::int64_t value);
/// Returns a 0-d tensor of the same element type.
Value scalar_like(Value like, double value);
Value int_tensor(Builder& builder, std::span<const std::int64_t> values, Shape shape);
/// Returns a 1-d int64 tensor.
Value int_vector(Builder& builder, std::span<const std::int64_t> values);
Value float_tensor(Builder& builder, DType dtype, std::span<const double> values, Shape shape);
/// Returns 0, 1, .., count - 1 as int64.
Value iota(Builder& builder, std::int64_t count);
/// Returns a tensor with equal elements; created by Expand, so it needs one number in the file.
Value full(Builder& builder, Type type, double value);
/// Returns the elements of a constant as integers; empty if the value is not a constant.
std::optional<std::vector<std::int64_t>> constant_ints(Value value);
std::optional<std::vector<double>> constant_doubles(Value value);

// ---- types -----------------------------------------------------------------------------------

/// Converts types: floating-point to integer truncates, to bool compares with zero.
Value cast(Value value, DType dtype);
/// Converts types like PyTorch for negative numbers that become unsigned: they wrap around.
Value convert_elements(Value value, DType dtype);
/// Runs `op_type` elementwise over broadcast operands of one type; the result has the same type.
Value elementwise(std::string_view op_type, std::initializer_list<Value> operands,
                  Attrs attributes = {});
/// Runs operators whose result is bool.
Value predicate(std::string_view op_type, std::initializer_list<Value> operands);

// ---- arithmetic ------------------------------------------------------------------------------

Value operator+(Value a, Value b);
Value operator-(Value a, Value b);
Value operator*(Value a, Value b);
/// Divides floating-point numbers exactly; integers truncate.
Value operator/(Value a, Value b);
Value operator-(Value a);
Value operator+(Value a, double b);
Value operator-(Value a, double b);
Value operator*(Value a, double b);
Value operator/(Value a, double b);
Value operator+(double a, Value b);
Value operator-(double a, Value b);
Value operator*(double a, Value b);
Value operator/(double a, Value b);

Value abs(Value x);
Value sign(Value x);
Value exp(Value x);
Value log(Value x);
Value sqrt(Value x);
Value reciprocal(Value x);
Value sin(Value x);
Value cos(Value x);
Value tanh(Value x);
Value sigmoid(Value x);
Value floor(Value x);
Value ceil(Value x);
/// Rounds half to even.
Value round(Value x);
/// Rounds towards zero; keeps infinities and NaN.
Value trunc(Value x);
Value square(Value x);
Value pow(Value x, Value exponent);
Value relu(Value x);
/// Returns NaN if either operand is NaN, as torch.maximum.
Value maximum(Value a, Value b);
Value minimum(Value a, Value b);
/// Returns the integer remainder with the sign of the divisor.
Value floor_mod(Value a, Value b);

// ---- comparison and logic --------------------------------------------------------------------

Value equal(Value a, Value b);
Value not_equal(Value a, Value b);
Value operator<(Value a, Value b);
Value operator>(Value a, Value b);
Value operator<=(Value a, Value b);
Value operator>=(Value a, Value b);
Value equal(Value a, double b);
Value not_equal(Value a, double b);
Value operator<(Value a, double b);
Value operator>(Value a, double b);
Value operator<=(Value a, double b);
Value operator>=(Value a, double b);
Value operator!(Value a);
Value operator&&(Value a, Value b);
Value operator||(Value a, Value b);
Value logical_xor(Value a, Value b);
Value is_nan(Value x);
Value is_inf(Value x);
/// Returns an elementwise choice; the condition is bool.
Value where(Value condition, Value yes, Value no);
Value where(Value condition, Value yes, double no);
Value where(Value condition, double yes, Value no);

// ---- shape -----------------------------------------------------------------------------------

/// Returns `dim` converted to a non-negative dimension.
std::int64_t wrap_dim(std::int64_t dim, std::int64_t rank);
Dims wrap_dims(std::span<const std::int64_t> dims, std::int64_t rank);
/// Returns all dimensions: 0, 1, .., rank - 1.
Dims all_dims(std::int64_t rank);
/// Returns the shape to which both broadcast.
Shape broadcast(const Shape& a, const Shape& b);

Value reshape(Value x, Shape shape);
Value unsqueeze(Value x, std::int64_t dim);
Value squeeze(Value x, std::int64_t dim);
/// Adds leading dimensions of size one up to `rank`.
Value with_rank(Value x, std::int64_t rank);
Value permute(Value x, Dims dims);
Value transpose(Value x, std::int64_t a, std::int64_t b);
Value expand(Value x, Shape shape);
/// Returns Python's x[start:end:step] along one dimension. If the step is negative, `start` and
/// `end` are positions in the original tensor, and `end` = -1 means "to the front".
Value slice(Value x, std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step = 1);
/// Selects one index; the dimension is removed.
Value select(Value x, std::int64_t dim, std::int64_t index);
Value flip(Value x, std::span<const std::int64_t> dims);
Value concat(std::span<const Value> parts, std::int64_t dim);
Value concat(std::initializer_list<Value> parts, std::int64_t dim);
/// Stacks along a new dimension.
Value stack(std::span<const Value> parts, std::int64_t dim);
std::vector<Value> split(Value x, std::span<const std::int64_t> sizes, std::int64_t dim);
/// Pads; `before` and `after` have one number per dimension, none negative.
Value pad_constant(Value x, const Dims& before, const Dims& after, double value);
Value tile(Value x, const Dims& repeats);

// ---- indexing --------------------------------------------------------------------------------

/// Returns rows of `x` along `dim`; negative indices count from the end.
Value gather(Value x, Value index, std::int64_t dim);
Value gather_elements(Value x, Value index, std::int64_t dim);
Value gather_nd(Value x, Value index, std::int64_t batch_dims = 0);
/// Scatters; `reduction` is "none", "add", "mul" (opset 16), "max", "min" (opset 18).
Value scatter_elements(Value x, Value index, Value updates, std::int64_t dim,
                       std::string_view reduction = "none");
Value scatter_nd(Value x, Value index, Value updates, std::string_view reduction = "none");

// ---- reductions ------------------------------------------------------------------------------

/// Reduces; `op_type` is "ReduceSum", "ReduceMax", ..; no dims means all of them.
Value reduce(std::string_view op_type, Value x, const Dims& dims, bool keep_dims);
Value sum(Value x, const Dims& dims, bool keep_dims = false);
Value prod(Value x, const Dims& dims, bool keep_dims = false);
Value mean(Value x, const Dims& dims, bool keep_dims = false);
/// Returns NaN if there is one, as torch.amax.
Value amax(Value x, const Dims& dims, bool keep_dims = false);
Value amin(Value x, const Dims& dims, bool keep_dims = false);
/// Returns whether any of the bool values is true.
Value any(Value x, const Dims& dims, bool keep_dims = false);
Value all(Value x, const Dims& dims, bool keep_dims = false);

/// Sums along one dimension, in the operand's type.
Value cumulative_sum(Value x, std::int64_t dim);

// ---- products --------------------------------------------------------------------------------

Value matmul(Value a, Value b);

}  // namespace leapp::onnx_export
