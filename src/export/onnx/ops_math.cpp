#include <algorithm>
#include <cmath>
#include <string>

#include "base/check.h"
#include "export/onnx/kernels.h"
#include "export/onnx/layout.h"
#include "export/onnx/ops.h"

namespace leapp::onnx_export {
namespace {

DType type_for(std::string_view op_type, DType dtype) {
  const std::optional<DType> found = kernel_type(op_type, dtype);
  require(found.has_value(), Code::kNoOnnx,
          "ONNX Runtime has no exact " + std::string(op_type) + " for " +
              std::string(name_of(dtype)) +
              "; compute in float32 (or int64), or export the node with export_with='jit'");
  return *found;
}

struct Operands {
  std::vector<Value> values;
  Shape shape;
};

Operands prepare(std::string_view op_type, std::initializer_list<Value> operands) {
  const DType dtype = operands.begin()->dtype();
  const DType compute = type_for(op_type, dtype);
  Operands prepared;
  for (const Value& operand : operands) {
    demand(operand.dtype() == dtype, "operands of one ONNX node differ in element type");
    prepared.values.push_back(cast(operand, compute));
    prepared.shape = broadcast(prepared.shape, operand.shape());
  }
  return prepared;
}

bool is_scalar_value(Value x, double wanted) {
  if (!x.is_constant() || x.count() != 1) return false;
  const auto values = constant_doubles(x);
  return values && (*values)[0] == wanted;
}

/// Runs the operation on the tensors in front of its operands' reshapes; undefined if they are not
/// reshapes.
Value before_reshaping(std::string_view op_type, std::initializer_list<Value> operands,
                       const Attrs& attributes) {
  const bool has_axis = std::any_of(attributes.begin(), attributes.end(),
                                    [](const Attr& attribute) { return attribute.name == "axis"; });
  if (has_axis) return {};
  const Value first = *operands.begin();
  if (operands.size() == 1) {
    const Value source = before_reshape(first);
    if (!source.defined()) return {};
    return reshape(elementwise(op_type, {source}, attributes), first.shape());
  }
  if (operands.size() != 2) return {};
  const Value second = *(operands.begin() + 1);
  if (const Value rows = rows_of(first); rows.defined()) {
    const Value other = beside_rows(second, first.shape(), rows);
    if (other.defined()) {
      return reshape(elementwise(op_type, {rows, other}, attributes), first.shape());
    }
  }
  if (const Value rows = rows_of(second); rows.defined()) {
    const Value other = beside_rows(first, second.shape(), rows);
    if (other.defined()) {
      return reshape(elementwise(op_type, {other, rows}, attributes), second.shape());
    }
  }
  return {};
}

/// Returns the other operand, if omitting this one changes neither value nor shape.
bool keeps_shape(Value kept, Value dropped) {
  return broadcast(kept.shape(), dropped.shape()) == kept.shape();
}

}  // namespace

Value cast(Value value, DType dtype) {
  const DType from = value.dtype();
  if (from == dtype) return value;
  // The runtime's own cast between floating point and bool is a comparison with zero.
  return value.builder().emit("Cast", {value},
                              {{"to", static_cast<std::int64_t>(onnx::element_type_of(dtype))}},
                              {dtype, value.shape()});
}

Value convert_elements(Value value, DType dtype) {
  const bool to_unsigned =
      dtype == DType::kUInt8 || dtype == DType::kUInt16 || dtype == DType::kUInt32;
  // A negative number wraps around in PyTorch; only a cast between integers guarantees that.
  if (to_unsigned && is_floating_point(value.dtype())) value = cast(value, DType::kInt64);
  return cast(value, dtype);
}

Value elementwise(std::string_view op_type, std::initializer_list<Value> operands,
                  Attrs attributes) {
  if (const Value made = before_reshaping(op_type, operands, attributes); made.defined()) {
    return made;
  }
  Operands prepared = prepare(op_type, operands);
  const DType dtype = operands.begin()->dtype();
  const DType compute = prepared.values[0].dtype();
  Builder& builder = operands.begin()->builder();
  const Value result = builder.emit(op_type, prepared.values, std::move(attributes),
                                    {compute, std::move(prepared.shape)});
  return cast(result, dtype);
}

Value predicate(std::string_view op_type, std::initializer_list<Value> operands) {
  Operands prepared = prepare(op_type, operands);
  return operands.begin()->builder().emit(op_type, prepared.values, {},
                                          {DType::kBool, std::move(prepared.shape)});
}

Value operator+(Value a, Value b) {
  if (a.dtype() == DType::kBool) return a || b;
  if (is_integer(a.dtype())) {  // x + 0.0 is not x for x = -0.0
    if (is_scalar_value(b, 0) && keeps_shape(a, b)) return a;
    if (is_scalar_value(a, 0) && keeps_shape(b, a)) return b;
  }
  return elementwise("Add", {a, b});
}
Value operator-(Value a, Value b) {
  if (is_scalar_value(b, 0) && keeps_shape(a, b)) return a;
  return elementwise("Sub", {a, b});
}
Value operator*(Value a, Value b) {
  if (a.dtype() == DType::kBool) return a && b;
  if (is_scalar_value(b, 1) && keeps_shape(a, b)) return a;
  if (is_scalar_value(a, 1) && keeps_shape(b, a)) return b;
  return elementwise("Mul", {a, b});
}
Value operator/(Value a, Value b) {
  if (is_scalar_value(b, 1) && keeps_shape(a, b)) return a;
  return elementwise("Div", {a, b});
}
Value operator-(Value a) {
  return elementwise("Neg", {a});
}
Value operator+(Value a, double b) {
  return a + scalar_like(a, b);
}
Value operator-(Value a, double b) {
  return a - scalar_like(a, b);
}
Value operator*(Value a, double b) {
  return a * scalar_like(a, b);
}
Value operator/(Value a, double b) {
  return a / scalar_like(a, b);
}
Value operator+(double a, Value b) {
  return scalar_like(b, a) + b;
}
Value operator-(double a, Value b) {
  return scalar_like(b, a) - b;
}
Value operator*(double a, Value b) {
  return scalar_like(b, a) * b;
}
Value operator/(double a, Value b) {
  return scalar_like(b, a) / b;
}

Value abs(Value x) {
  return x.dtype() == DType::kBool ? x : elementwise("Abs", {x});
}
Value sign(Value x) {
  return x.dtype() == DType::kBool ? x : elementwise("Sign", {x});
}
Value exp(Value x) {
  return elementwise("Exp", {x});
}
Value log(Value x) {
  return elementwise("Log", {x});
}
Value sqrt(Value x) {
  return elementwise("Sqrt", {x});
}
Value reciprocal(Value x) {
  return elementwise("Reciprocal", {x});
}
Value sin(Value x) {
  return elementwise("Sin", {x});
}
Value cos(Value x) {
  return elementwise("Cos", {x});
}
Value tanh(Value x) {
  return elementwise("Tanh", {x});
}
Value sigmoid(Value x) {
  return elementwise("Sigmoid", {x});
}
Value floor(Value x) {
  return is_floating_point(x.dtype()) ? elementwise("Floor", {x}) : x;
}
Value ceil(Value x) {
  return is_floating_point(x.dtype()) ? elementwise("Ceil", {x}) : x;
}
Value round(Value x) {
  return is_floating_point(x.dtype()) ? elementwise("Round", {x}) : x;
}
Value trunc(Value x) {
  if (!is_floating_point(x.dtype())) return x;
  return where(x < 0.0, ceil(x), floor(x));
}
Value square(Value x) {
  return x * x;
}
Value pow(Value x, Value exponent) {
  return elementwise("Pow", {x, exponent});
}
Value relu(Value x) {
  return is_floating_point(x.dtype()) ? elementwise("Relu", {x}) : maximum(x, scalar_like(x, 0));
}
Value maximum(Value a, Value b) {
  if (a.dtype() == DType::kBool) return a || b;
  return elementwise("Max", {a, b});
}
Value minimum(Value a, Value b) {
  if (a.dtype() == DType::kBool) return a && b;
  return elementwise("Min", {a, b});
}
Value floor_mod(Value a, Value b) {
  return elementwise("Mod", {a, b});
}

Value equal(Value a, Value b) {
  return predicate("Equal", {a, b});
}
Value not_equal(Value a, Value b) {
  return !equal(a, b);
}
Value operator<(Value a, Value b) {
  return predicate("Less", {a, b});
}
Value operator>(Value a, Value b) {
  return predicate("Greater", {a, b});
}
Value operator<=(Value a, Value b) {
  return predicate("LessOrEqual", {a, b});
}
Value operator>=(Value a, Value b) {
  return predicate("GreaterOrEqual", {a, b});
}
Value equal(Value a, double b) {
  return equal(a, scalar_like(a, b));
}
Value not_equal(Value a, double b) {
  return not_equal(a, scalar_like(a, b));
}
Value operator<(Value a, double b) {
  return a < scalar_like(a, b);
}
Value operator>(Value a, double b) {
  return a > scalar_like(a, b);
}
Value operator<=(Value a, double b) {
  return a <= scalar_like(a, b);
}
Value operator>=(Value a, double b) {
  return a >= scalar_like(a, b);
}
Value operator!(Value a) {
  return predicate("Not", {a});
}
Value operator&&(Value a, Value b) {
  return predicate("And", {a, b});
}
Value operator||(Value a, Value b) {
  return predicate("Or", {a, b});
}
Value logical_xor(Value a, Value b) {
  return predicate("Xor", {a, b});
}

Value is_nan(Value x) {
  if (is_floating_point(x.dtype())) return predicate("IsNaN", {x});
  return full(x.builder(), {DType::kBool, x.shape()}, 0);
}

Value is_inf(Value x) {
  if (is_floating_point(x.dtype())) return predicate("IsInf", {x});
  return full(x.builder(), {DType::kBool, x.shape()}, 0);
}

Value where(Value condition, Value yes, Value no) {
  demand(yes.dtype() == no.dtype() && condition.dtype() == DType::kBool,
         "a choice between values of different element types");
  if (yes == no && keeps_shape(yes, condition)) return yes;
  const DType dtype = yes.dtype();
  const DType compute = type_for("Where", dtype);
  const Shape shape = broadcast(broadcast(condition.shape(), yes.shape()), no.shape());
  const Value chosen = yes.builder().emit(
      "Where", {condition, cast(yes, compute), cast(no, compute)}, {}, {compute, shape});
  return cast(chosen, dtype);
}
Value where(Value condition, Value yes, double no) {
  return where(condition, yes, scalar_like(yes, no));
}
Value where(Value condition, double yes, Value no) {
  return where(condition, scalar_like(no, yes), no);
}

Value reduce(std::string_view op_type, Value x, const Dims& dims, bool keep_dims) {
  const Dims axes = dims.empty() ? all_dims(x.rank()) : wrap_dims(dims, x.rank());
  Shape kept = x.shape();
  for (const std::int64_t axis : axes) kept[static_cast<std::size_t>(axis)] = 1;
  Shape shape;
  for (std::int64_t d = 0; d < x.rank(); ++d) {
    const bool reduced = std::find(axes.begin(), axes.end(), d) != axes.end();
    if (!reduced || keep_dims) shape.push_back(kept[static_cast<std::size_t>(d)]);
  }
  Builder& builder = x.builder();
  const DType dtype = x.dtype();
  const DType compute = type_for(op_type, dtype);
  const Value operand = x.rank() == 0 ? reshape(cast(x, compute), {1}) : cast(x, compute);
  const Dims used = x.rank() == 0 ? Dims{0} : axes;
  // Up to opset 17 only ReduceSum has its axes as an input.
  Attrs attributes = {{"keepdims", std::int64_t{keep_dims && x.rank() > 0}}};
  std::vector<Value> inputs = {operand};
  if (builder.opset() >= 18 || op_type == "ReduceSum") {
    inputs.push_back(int_vector(builder, used));
  } else {
    attributes.push_back({"axes", used});
  }
  return cast(builder.emit(op_type, inputs, std::move(attributes), {compute, shape}), dtype);
}
Value sum(Value x, const Dims& dims, bool keep_dims) {
  return reduce("ReduceSum", x, dims, keep_dims);
}
Value prod(Value x, const Dims& dims, bool keep_dims) {
  return reduce("ReduceProd", x, dims, keep_dims);
}
Value mean(Value x, const Dims& dims, bool keep_dims) {
  const Value found = reduce("ReduceMean", x, dims, keep_dims);
  // The runtime returns 0 for the mean of no elements.
  return x.count() == 0 ? full(x.builder(), found.type(), NAN) : found;
}
Value amax(Value x, const Dims& dims, bool keep_dims) {
  return reduce("ReduceMax", x, dims, keep_dims);
}
Value amin(Value x, const Dims& dims, bool keep_dims) {
  return reduce("ReduceMin", x, dims, keep_dims);
}
Value any(Value x, const Dims& dims, bool keep_dims) {
  return cast(reduce("ReduceMax", cast(x, DType::kUInt8), dims, keep_dims), DType::kBool);
}
Value all(Value x, const Dims& dims, bool keep_dims) {
  return cast(reduce("ReduceMin", cast(x, DType::kUInt8), dims, keep_dims), DType::kBool);
}

Value matmul(Value a, Value b) {
  demand(a.dtype() == b.dtype(), "a matrix product of different element types");
  const DType compute = type_for("MatMul", a.dtype());
  // Vectors are passed as matrices, because ONNX Runtime 1.31 fuses Transpose and MatMul
  // incorrectly if the other operand is a vector.
  const bool vector_a = a.rank() == 1;
  const bool vector_b = b.rank() == 1;
  const Value left = cast(vector_a ? unsqueeze(a, 0) : a, compute);
  const Value right = cast(vector_b ? unsqueeze(b, 1) : b, compute);
  Shape shape = broadcast(Shape(left.shape().begin(), left.shape().end() - 2),
                          Shape(right.shape().begin(), right.shape().end() - 2));
  Shape result = shape;
  if (!vector_a) result.push_back(left.shape()[left.shape().size() - 2]);
  if (!vector_b) result.push_back(right.shape().back());
  shape.push_back(left.shape()[left.shape().size() - 2]);
  shape.push_back(right.shape().back());
  Value product = a.builder().emit("MatMul", {left, right}, {}, {compute, std::move(shape)});
  if (vector_a || vector_b) product = reshape(product, std::move(result));
  return cast(product, a.dtype());
}

}  // namespace leapp::onnx_export
