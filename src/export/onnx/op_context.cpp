#include "export/onnx/op_context.h"

#include <utility>

#include "base/check.h"
#include "export/onnx/blob.h"

namespace leapp::onnx_export {
namespace {

DType real_part(DType dtype) {
  return dtype == DType::kComplex128 ? DType::kFloat64 : DType::kFloat32;
}

/// Returns the type of the ONNX value for a value of the IR.
Type stored_type(const ir::TensorType& type) {
  Type stored{type.dtype, type.shape};
  if (is_complex(type.dtype)) {
    stored.dtype = real_part(type.dtype);
    stored.shape.push_back(2);
  }
  return stored;
}

std::string shown(const Type& type) {
  return std::string(name_of(type.dtype)) + to_string(type.shape);
}

}  // namespace

ValueMap::ValueMap(const ir::Graph& graph, Builder& builder)
    : graph_(graph),
      builder_(builder),
      values_(graph.value_count()),
      used_(graph.value_count(), false) {
  const auto mark = [&](ir::ValueId id) { used_[static_cast<std::size_t>(id)] = true; };
  for (const ir::Op& op : graph.ops()) {
    for (const ir::Argument& argument : op.arguments) ir::for_each_value(argument, mark);
  }
  for (const ir::Graph::Output& output : graph.outputs()) mark(output.value);
}

Value ValueMap::get(ir::ValueId id) {
  Value& value = values_.at(static_cast<std::size_t>(id));
  if (!value.defined() && graph_.is_constant(id)) {
    ir::Blob blob = graph_.blob(id);
    const Type stored = stored_type(blob.type);
    blob.type.dtype = stored.dtype;
    blob.type.shape = stored.shape;
    value = builder_.constant(std::move(blob), graph_.value(id).name);
  }
  demand(value.defined(), "a value of the IR graph is used before an ONNX value stands for it");
  return value;
}

void ValueMap::set(ir::ValueId id, Value value) {
  values_.at(static_cast<std::size_t>(id)) = value;
}

ir::ValueId OpContext::given(std::string_view parameter) const {
  const ir::ValueId id = value_of(parameter);
  demand(id != ir::kNoValue, "a tensor argument that is not a tensor");
  return id;
}

bool OpContext::is_complex_tensor(std::string_view parameter) const {
  return is_tensor(parameter) && is_complex(graph().type(value_of(parameter)).dtype);
}

bool OpContext::touches_complex() const {
  bool found = false;
  const auto look = [&](ir::ValueId id) {
    if (id != ir::kNoValue) found |= is_complex(graph().type(id).dtype);
  };
  for (const ir::Argument& held : op().arguments) {
    ir::for_each_value(held, look);
    found |= std::holds_alternative<std::complex<double>>(held);
  }
  for (const ir::Result& result : op().results) {
    for (const ir::ValueId id : result.values) look(id);
  }
  return found;
}

Value OpContext::read(ir::ValueId id) {
  const DType dtype = graph().type(id).dtype;
  const Value value = values_.get(id);
  if (part_ == Part::kWhole) {
    need(!is_complex(dtype), "its operand is complex",
         "Work on real and imaginary parts, or use export_with='jit'.");
    return value;
  }
  if (is_complex(dtype)) return select(value, -1, part_ == Part::kReal ? 0 : 1);
  // A real number among complex ones has no imaginary part; an index is used for both parts.
  const bool has_parts = part_ == Part::kImaginary && is_floating_point(dtype);
  return has_parts ? full(builder(), value.type(), 0) : value;
}

void OpContext::write(ir::ValueId id, Value value) {
  if (id == ir::kNoValue) return;
  const ir::TensorType& type = graph().type(id);
  need(part_ != Part::kWhole || !is_complex(type.dtype), "its result is complex",
       "Work on real and imaginary parts, or use export_with='jit'.");
  const DType dtype = is_complex(type.dtype) ? real_part(type.dtype) : type.dtype;
  if (value.dtype() != dtype || value.shape() != type.shape) {
    fail(Code::kBadConverter,
         "the converter returns " + shown(value.type()) + ", but PyTorch returns " +
             shown({dtype, type.shape}),
         "This is a bug of the converter, please report it.");
  }
  if (part_ == Part::kWhole) {
    values_.set(id, value);
  } else {
    parts_[id] = value;
  }
}

Value OpContext::tensor(std::string_view parameter) {
  return read(given(parameter));
}

Value OpContext::complex_tensor(std::string_view parameter) {
  const ir::ValueId id = given(parameter);
  const Value value = values_.get(id);
  if (is_complex(graph().type(id).dtype)) return value;
  const Value real = is_floating_point(value.dtype()) ? value : cast(value, DType::kFloat32);
  const Value pair[] = {real, full(builder(), real.type(), 0)};
  return stack(pair, -1);
}

Value OpContext::optional_tensor(std::string_view parameter) {
  return is_none(parameter) ? Value() : tensor(parameter);
}

std::vector<Value> OpContext::tensors(std::string_view parameter) {
  std::vector<Value> values;
  for (const ir::ValueId id : values_of(parameter)) {
    values.push_back(id == ir::kNoValue ? Value() : read(id));
  }
  return values;
}

Value OpContext::scalar_argument(std::string_view parameter, DType dtype) {
  const DType own = scalar_type(parameter);
  if (own == DType::kBool || own == DType::kInt64) {
    return scalar_int(builder(), dtype, integer(parameter));
  }
  return scalar(builder(), dtype, number(parameter));
}

Value OpContext::operand(std::string_view parameter) {
  return is_tensor(parameter) ? tensor(parameter)
                              : scalar_argument(parameter, scalar_type(parameter));
}

Type OpContext::result_type(std::size_t i) const {
  const ir::TensorType& type = graph().type(op().result(i));
  const bool half = part_ != Part::kWhole && is_complex(type.dtype);
  return {half ? real_part(type.dtype) : type.dtype, type.shape};
}

const Shape& OpContext::result_shape(std::size_t i) const {
  return graph().type(op().result(i)).shape;
}

bool OpContext::is_used(std::size_t i) const {
  const ir::ValueId id = op().result(i);
  return id != ir::kNoValue && values_.is_used(id);
}

bool OpContext::is_set(std::size_t i) const {
  const ir::ValueId id = op().result(i);
  return id != ir::kNoValue && values_.is_set(id);
}

void OpContext::set(std::size_t i, Value value) {
  const ir::Result& result = op().results.at(i);
  demand(!result.is_list, "a single value was set for a list of results");
  write(result.values.at(0), value);
}

void OpContext::set_parts(ir::ValueId id, Value real, Value imaginary) {
  const Value pair[] = {real, imaginary};
  values_.set(id, is_complex(graph().type(id).dtype) ? stack(pair, -1) : real);
}

void OpContext::set_complex(std::size_t i, Value value) {
  const ir::ValueId id = op().result(i);
  if (id == ir::kNoValue) return;
  const Type expected = stored_type(graph().type(id));
  if (value.type() != expected) {
    fail(
        Code::kBadConverter,
        "the converter returns " + shown(value.type()) + ", but PyTorch returns " + shown(expected),
        "This is a bug of the converter, please report it.");
  }
  values_.set(id, value);
}

void OpContext::set_list(std::size_t i, const std::vector<Value>& values) {
  const ir::Result& result = op().results.at(i);
  demand(result.is_list && result.values.size() == values.size(),
         "the list of results has the wrong length");
  for (std::size_t k = 0; k < values.size(); ++k) write(result.values[k], values[k]);
}

void OpContext::fail(Code code, const std::string& reason, const std::string& advice) const {
  std::string message = op().signature->qualified_name();
  if (op().source.known()) message += " (" + op().source.to_string() + ")";
  message += " cannot be exported to ONNX: " + reason + ".";
  message += " " + (advice.empty() ? "Export the node with export_with='jit', or register an ONNX "
                                     "converter for the operation."
                                   : advice);
  throw OpError(code, message);
}

void OpContext::need_opset(int version, const std::string& what) const {
  if (opset() >= version) return;
  fail(Code::kOpset,
       what + " needs opset " + std::to_string(version) + " or newer, and the export is for " +
           std::to_string(opset()),
       "Set backend_params={'opset_version': " + std::to_string(version) + "}.");
}

}  // namespace leapp::onnx_export
