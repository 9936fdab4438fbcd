#include "export/onnx/op_context.h"

#include <utility>

#include "base/check.h"
#include "export/onnx/blob.h"
#include "ir/promote.h"

namespace leapp::onnx_export {
namespace {

DType real_part(DType dtype) {
  return dtype == DType::kComplex128 ? DType::kFloat64 : DType::kFloat32;
}

/// Returns the type of the ONNX value that stands for a value of the IR.
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

const ir::Argument& OpContext::argument(std::string_view parameter) const {
  return op_.argument(parameter);
}

bool OpContext::is_none(std::string_view parameter) const {
  if (!op_.has(parameter)) return true;
  const ir::Argument& held = argument(parameter);
  if (const auto* ref = std::get_if<ir::ValueRef>(&held)) return ref->id == ir::kNoValue;
  return std::holds_alternative<std::monostate>(held);
}

bool OpContext::is_complex_tensor(std::string_view parameter) const {
  if (!op_.has(parameter)) return false;
  const auto* ref = std::get_if<ir::ValueRef>(&argument(parameter));
  return ref != nullptr && ref->id != ir::kNoValue &&
         is_complex(values_.graph().type(ref->id).dtype);
}

bool OpContext::touches_complex() const {
  bool found = false;
  const auto look = [&](ir::ValueId id) {
    if (id != ir::kNoValue) found |= is_complex(values_.graph().type(id).dtype);
  };
  for (const ir::Argument& held : op_.arguments) {
    ir::for_each_value(held, look);
    found |= std::holds_alternative<std::complex<double>>(held);
  }
  for (const ir::Result& result : op_.results) {
    for (const ir::ValueId id : result.values) look(id);
  }
  return found;
}

Value OpContext::read(ir::ValueId id) {
  const DType dtype = values_.graph().type(id).dtype;
  const Value value = values_.get(id);
  if (part_ == Part::kWhole) {
    need(!is_complex(dtype), "its operand is complex",
         "Work on real and imaginary parts, or use export_with='jit'.");
    return value;
  }
  if (is_complex(dtype)) return select(value, -1, part_ == Part::kReal ? 0 : 1);
  // A real number among complex ones has no imaginary part; an index is an index for both.
  const bool has_parts = part_ == Part::kImaginary && is_floating_point(dtype);
  return has_parts ? full(builder(), value.type(), 0) : value;
}

void OpContext::write(ir::ValueId id, Value value) {
  if (id == ir::kNoValue) return;
  const ir::TensorType& type = values_.graph().type(id);
  need(part_ != Part::kWhole || !is_complex(type.dtype), "its result is complex",
       "Work on real and imaginary parts, or use export_with='jit'.");
  const DType dtype = is_complex(type.dtype) ? real_part(type.dtype) : type.dtype;
  if (value.dtype() != dtype || value.shape() != type.shape) {
    fail(Code::kBadConverter,
         "the converter made " + shown(value.type()) + " where PyTorch has " +
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
  const auto* ref = std::get_if<ir::ValueRef>(&argument(parameter));
  demand(ref != nullptr && ref->id != ir::kNoValue, "a tensor argument that is not a tensor");
  return read(ref->id);
}

Value OpContext::complex_tensor(std::string_view parameter) {
  const auto* ref = std::get_if<ir::ValueRef>(&argument(parameter));
  demand(ref != nullptr && ref->id != ir::kNoValue, "a tensor argument that is not a tensor");
  const Value value = values_.get(ref->id);
  if (is_complex(values_.graph().type(ref->id).dtype)) return value;
  const Value real = is_floating_point(value.dtype()) ? value : cast(value, DType::kFloat32);
  const Value pair[] = {real, full(builder(), real.type(), 0)};
  return stack(pair, -1);
}

Value OpContext::optional_tensor(std::string_view parameter) {
  return is_none(parameter) ? Value() : tensor(parameter);
}

std::vector<Value> OpContext::tensors(std::string_view parameter) {
  std::vector<Value> values;
  for (const ir::ValueRef ref : std::get<std::vector<ir::ValueRef>>(argument(parameter))) {
    if (ref.id == ir::kNoValue) {
      values.emplace_back();
      continue;
    }
    values.push_back(read(ref.id));
  }
  return values;
}

std::int64_t OpContext::integer(std::string_view parameter) const {
  const ir::Argument& held = argument(parameter);
  if (const auto* value = std::get_if<std::int64_t>(&held)) return *value;
  if (const auto* value = std::get_if<bool>(&held)) return *value ? 1 : 0;
  demand(false, "an integer argument of another type");
  return 0;
}

std::int64_t OpContext::integer(std::string_view parameter, std::int64_t if_none) const {
  return is_none(parameter) ? if_none : integer(parameter);
}

double OpContext::number(std::string_view parameter) const {
  const ir::Argument& held = argument(parameter);
  if (const auto* value = std::get_if<double>(&held)) return *value;
  need(!std::holds_alternative<std::complex<double>>(held),
       "its argument '" + std::string(parameter) + "' is complex");
  return static_cast<double>(integer(parameter));
}

double OpContext::number(std::string_view parameter, double if_none) const {
  return is_none(parameter) ? if_none : number(parameter);
}

bool OpContext::flag(std::string_view parameter) const {
  return !is_none(parameter) && integer(parameter) != 0;
}

std::string OpContext::text(std::string_view parameter) const {
  return is_none(parameter) ? "" : std::get<std::string>(argument(parameter));
}

std::vector<std::int64_t> OpContext::ints(std::string_view parameter) const {
  if (is_none(parameter)) return {};
  const ir::Argument& held = argument(parameter);
  if (const auto* one = std::get_if<std::int64_t>(&held)) return {*one};
  // An empty list does not tell what it is a list of.
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&held)) return *list;
  return {};
}

std::vector<double> OpContext::numbers(std::string_view parameter) const {
  if (is_none(parameter)) return {};
  const ir::Argument& held = argument(parameter);
  if (const auto* list = std::get_if<std::vector<double>>(&held)) return *list;
  const std::vector<std::int64_t> whole = ints(parameter);
  return {whole.begin(), whole.end()};
}

std::vector<bool> OpContext::flags(std::string_view parameter) const {
  if (is_none(parameter)) return {};
  const auto* list = std::get_if<std::vector<bool>>(&argument(parameter));
  return list == nullptr ? std::vector<bool>() : *list;
}

std::optional<DType> OpContext::dtype(std::string_view parameter) const {
  if (is_none(parameter)) return std::nullopt;
  return std::get<DType>(argument(parameter));
}

OpContext::ScalarKind OpContext::scalar_kind(std::string_view parameter) const {
  const ir::Argument& held = argument(parameter);
  if (std::holds_alternative<bool>(held)) return ScalarKind::kBool;
  if (std::holds_alternative<std::int64_t>(held)) return ScalarKind::kInteger;
  if (std::holds_alternative<double>(held)) return ScalarKind::kFloat;
  demand(std::holds_alternative<std::complex<double>>(held), "a Scalar of an unknown kind");
  return ScalarKind::kComplex;
}

Value OpContext::scalar_argument(std::string_view parameter, DType dtype) {
  if (scalar_kind(parameter) == ScalarKind::kFloat ||
      scalar_kind(parameter) == ScalarKind::kComplex) {
    return scalar(builder(), dtype, number(parameter));
  }
  return scalar_int(builder(), dtype, integer(parameter));
}

Value OpContext::operand(std::string_view parameter) {
  if (std::holds_alternative<ir::ValueRef>(argument(parameter))) return tensor(parameter);
  switch (scalar_kind(parameter)) {
    case ScalarKind::kBool:
      return scalar_argument(parameter, DType::kBool);
    case ScalarKind::kInteger:
      return scalar_argument(parameter, DType::kInt64);
    case ScalarKind::kFloat:
      return scalar_argument(parameter, DType::kFloat64);
    case ScalarKind::kComplex:
      break;
  }
  fail("its argument '" + std::string(parameter) + "' is complex");
}

DType OpContext::promoted(std::initializer_list<std::string_view> parameters) {
  std::vector<ir::PromotionOperand> operands;
  for (const std::string_view parameter : parameters) {
    const ir::Argument& held = argument(parameter);
    if (const auto* ref = std::get_if<ir::ValueRef>(&held)) {
      const ir::TensorType& type = values_.graph().type(ref->id);
      operands.push_back(
          {type.dtype, type.shape.empty() ? ir::OperandKind::kZeroDim : ir::OperandKind::kTensor});
    } else {
      switch (scalar_kind(parameter)) {
        case ScalarKind::kBool:
          operands.push_back({DType::kBool, ir::OperandKind::kNumber});
          break;
        case ScalarKind::kInteger:
          operands.push_back({DType::kInt64, ir::OperandKind::kNumber});
          break;
        case ScalarKind::kFloat:
          operands.push_back({DType::kFloat64, ir::OperandKind::kNumber});
          break;
        case ScalarKind::kComplex:
          operands.push_back({DType::kComplex128, ir::OperandKind::kNumber});
          break;
      }
    }
  }
  return ir::result_type(operands);
}

Type OpContext::result_type(std::size_t i) const {
  const ir::TensorType& type = values_.graph().type(op_.result(i));
  const bool half = part_ != Part::kWhole && is_complex(type.dtype);
  return {half ? real_part(type.dtype) : type.dtype, type.shape};
}

const Shape& OpContext::result_shape(std::size_t i) const {
  return values_.graph().type(op_.result(i)).shape;
}

bool OpContext::is_used(std::size_t i) const {
  const ir::ValueId id = op_.result(i);
  return id != ir::kNoValue && values_.is_used(id);
}

bool OpContext::is_set(std::size_t i) const {
  const ir::ValueId id = op_.result(i);
  return id != ir::kNoValue && values_.is_set(id);
}

void OpContext::set(std::size_t i, Value value) {
  const ir::Result& result = op_.results.at(i);
  demand(!result.is_list, "one value for a list of results");
  write(result.values.at(0), value);
}

void OpContext::set_parts(ir::ValueId id, Value real, Value imaginary) {
  const Value pair[] = {real, imaginary};
  values_.set(id, is_complex(values_.graph().type(id).dtype) ? stack(pair, -1) : real);
}

void OpContext::set_complex(std::size_t i, Value value) {
  const ir::ValueId id = op_.result(i);
  if (id == ir::kNoValue) return;
  const Type expected = stored_type(values_.graph().type(id));
  if (value.type() != expected) {
    fail(Code::kBadConverter,
         "the converter made " + shown(value.type()) + " where PyTorch has " + shown(expected),
         "This is a bug of the converter, please report it.");
  }
  values_.set(id, value);
}

void OpContext::set_list(std::size_t i, const std::vector<Value>& values) {
  const ir::Result& result = op_.results.at(i);
  demand(result.is_list && result.values.size() == values.size(),
         "a list of results of another length");
  for (std::size_t k = 0; k < values.size(); ++k) write(result.values[k], values[k]);
}

void OpContext::fail(Code code, const std::string& reason, const std::string& advice) const {
  std::string message = op_.signature->qualified_name();
  if (op_.source.known()) message += " (" + op_.source.to_string() + ")";
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
