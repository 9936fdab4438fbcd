#include "export/cpp/op_context.h"

#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/shown_path.h"

namespace leapp::cpp_export {
namespace {

bool has_type(DType dtype) {
  return dtype == DType::kBool || is_integer(dtype) || dtype == DType::kFloat32 ||
         dtype == DType::kFloat64;
}

void check_port(const std::string& name, DType dtype) {
  require(has_type(dtype), Code::kNoCpp,
          "the port '" + name + "' is " + std::string(name_of(dtype)) +
              ", which has no C++ type. Convert it to float32 first, or use export_with='onnx'.");
}

template <typename T>
Value literal(const ir::Blob& blob) {
  T number{};
  std::memcpy(&number, blob.data.get(), sizeof(T));
  if constexpr (std::is_floating_point_v<T>) {
    return filled(static_cast<double>(number), blob.type.dtype, blob.type.shape);
  } else {
    return filled(static_cast<std::int64_t>(number), blob.type.dtype, blob.type.shape);
  }
}

// A constant of one element, as a literal in the text.
std::optional<Value> number_of(const ir::Blob& blob) {
  if (element_count(blob.type.shape) != 1) return std::nullopt;
  switch (blob.type.dtype) {
    case DType::kFloat32:
      return literal<float>(blob);
    case DType::kFloat64:
      return literal<double>(blob);
    case DType::kInt64:
      return literal<std::int64_t>(blob);
    case DType::kInt32:
      return literal<std::int32_t>(blob);
    case DType::kInt16:
      return literal<std::int16_t>(blob);
    case DType::kInt8:
      return literal<std::int8_t>(blob);
    case DType::kUInt8:
    case DType::kBool:
      return literal<std::uint8_t>(blob);
    default:
      return std::nullopt;
  }
}

}  // namespace

ValueMap::ValueMap(const ir::Graph& graph, Program& program)
    : graph_(graph),
      program_(program),
      values_(graph.value_count()),
      uses_(graph.value_count(), 0) {
  const auto count = [&](ir::ValueId id) { ++uses_[static_cast<std::size_t>(id)]; };
  for (const ir::Op& op : graph.ops()) {
    for (const ir::Argument& argument : op.arguments) ir::for_each_value(argument, count);
  }
  for (const ir::ValueId id : graph.inputs()) {
    const ir::Value& input = graph.value(id);
    check_port(input.name, input.type.dtype);
    values_[static_cast<std::size_t>(id)] =
        program.read(program.add_input(input.type.dtype, input.type.shape));
  }
  for (const ir::Graph::Output& output : graph.outputs()) {
    const ir::TensorType& type = graph.type(output.value);
    check_port(output.name, type.dtype);
    outputs_.push_back(program.add_output(type.dtype, type.shape));
    count(output.value);
  }
  written_.resize(outputs_.size(), false);
}

Value ValueMap::constant(ir::ValueId id) {
  const ir::Blob& blob = graph_.blob(id);
  require(has_type(blob.type.dtype), Code::kNoCpp,
          "a constant " +
              (graph_.value(id).name.empty() ? "" : "'" + graph_.value(id).name + "' ") + "is " +
              std::string(name_of(blob.type.dtype)) +
              ", which has no C++ type. Use export_with='onnx'.");
  const std::optional<Value> number = number_of(blob);
  return number ? *number : program_.read(program_.add_weight(blob, graph_.value(id).name));
}

Value ValueMap::get(ir::ValueId id) {
  std::optional<Value>& value = values_.at(static_cast<std::size_t>(id));
  if (!value && graph_.is_constant(id)) value = constant(id);
  demand(value.has_value(), "a value of the graph is used before code for it is there");
  return *value;
}

void ValueMap::set(ir::ValueId id, Value value) {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (graph_.outputs()[i].value != id || written_[i]) continue;
    program_.store(value, outputs_[i]);
    value = program_.read(outputs_[i]);
    written_[i] = true;
    break;
  }
  // A longer expression is hard to read, also for a compiler.
  constexpr int kLongest = 24;
  if (uses(id) > 1 || value.cost > kLongest) value = program_.cheap(value);
  values_.at(static_cast<std::size_t>(id)) = std::move(value);
}

void ValueMap::finish() {
  program_.set_origin("");
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (!written_[i]) program_.store(get(graph_.outputs()[i].value), outputs_[i]);
  }
}

std::string OpContext::origin() const {
  std::string name = op().signature->name;
  if (name.rfind("aten::", 0) == 0) name = name.substr(6);
  if (!op().source.known()) return name;
  ir::SourceLocation place = op().source;
  place.file = shown_path(place.file);
  return place.to_string() + ": " + name;
}

Value OpContext::read(ir::ValueId id) {
  const DType dtype = graph().type(id).dtype;
  need(has_type(dtype), "its operand is " + std::string(name_of(dtype)));
  return resolved(values_.get(id));
}

Value OpContext::tensor(std::string_view parameter) {
  const ir::ValueId id = value_of(parameter);
  demand(id != ir::kNoValue, "a tensor argument that is not a tensor");
  return read(id);
}

std::optional<Value> OpContext::optional_tensor(std::string_view parameter) {
  return is_none(parameter) ? std::nullopt : std::optional(tensor(parameter));
}

std::vector<std::optional<Value>> OpContext::optional_tensors(std::string_view parameter) {
  std::vector<std::optional<Value>> values;
  for (const ir::ValueId id : values_of(parameter)) {
    values.push_back(id == ir::kNoValue ? std::nullopt : std::optional(read(id)));
  }
  return values;
}

std::vector<Value> OpContext::tensors(std::string_view parameter) {
  std::vector<Value> values;
  for (std::optional<Value>& value : optional_tensors(parameter))
    values.push_back(std::move(*value));
  return values;
}

const ir::Blob* OpContext::constant(std::string_view parameter) const {
  if (!is_tensor(parameter)) return nullptr;
  const ir::ValueId id = value_of(parameter);
  return graph().is_constant(id) ? &graph().blob(id) : nullptr;
}

std::string OpContext::constant_name(std::string_view parameter) const {
  return graph().value(value_of(parameter)).name;
}

Value OpContext::operand(std::string_view parameter, DType dtype) {
  if (is_tensor(parameter)) {
    const Value value = values_.get(value_of(parameter));
    // An element-wise operator may be fused into the preceding kernel.
    return value.pending && value.dtype == dtype ? value : cast(tensor(parameter), dtype);
  }
  const DType own = scalar_type(parameter);
  return own == DType::kBool || own == DType::kInt64 ? filled(integer(parameter), dtype)
                                                     : filled(number(parameter), dtype);
}

bool OpContext::is_used(std::size_t i) const {
  const ir::ValueId id = op().result(i);
  return id != ir::kNoValue && values_.is_used(id);
}

void OpContext::write(ir::ValueId id, Value value) {
  if (id == ir::kNoValue || !values_.is_used(id)) return;
  const ir::TensorType& type = graph().type(id);
  need(has_type(type.dtype), "its result is " + std::string(name_of(type.dtype)));
  require(value.dtype == type.dtype && value.shape == type.shape, Code::kInternal,
          op().signature->qualified_name() + ": its C++ makes " +
              std::string(name_of(value.dtype)) + to_string(value.shape) +
              ", but PyTorch returns " + std::string(name_of(type.dtype)) + to_string(type.shape));
  if (value.buffer == kNoBuffer) value.origins.insert(origin());
  values_.set(id, std::move(value));
}

void OpContext::set(std::size_t i, Value value) {
  write(op().results.at(i).values.at(0), std::move(value));
}

void OpContext::set_list(std::size_t i, std::vector<Value> values) {
  const ir::Result& result = op().results.at(i);
  demand(result.values.size() == values.size(), "a list of results of another length");
  for (std::size_t k = 0; k < values.size(); ++k) write(result.values[k], std::move(values[k]));
}

void OpContext::fail(const std::string& reason) const {
  std::string message = op().signature->qualified_name();
  if (op().source.known()) message += " (" + op().source.to_string() + ")";
  throw Error(Code::kNoCpp,
              message + " cannot be exported to C++: " + reason +
                  ". Export the node with export_with='onnx', or let LEAPP choose ONNX for it with "
                  "backend_params={'fallback': 'onnx'}.");
}

}  // namespace leapp::cpp_export
