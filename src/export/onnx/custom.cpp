#include "export/onnx/custom.h"

#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "base/check.h"
#include "export/onnx/blob.h"

namespace leapp {

struct OnnxOpAccess {
  static OnnxOp make(onnx_export::OpContext& context) { return OnnxOp(&context); }
};

namespace {

using onnx_export::Attr;
using onnx_export::Attrs;
using onnx_export::Builder;
using onnx_export::OpContext;
using onnx_export::Type;
using onnx_export::Value;

struct Customs {
  std::shared_mutex mutex;
  std::map<std::string, std::shared_ptr<const OnnxConverter>> converters;
};

Customs& customs() {
  static auto* const kCustoms = new Customs();  // outlives threads that may still export
  return *kCustoms;
}

OpContext& context_of(void* context) {
  return *static_cast<OpContext*>(context);
}

const ir::Argument& argument_of(OpContext& context, std::string_view parameter) {
  if (!context.has(parameter)) {
    std::string known;
    for (const auto& each : context.op().signature->parameters) {
      known += (known.empty() ? "" : ", ") + each.name;
    }
    context.fail(Code::kBadConverter,
                 "its converter reads a parameter '" + std::string(parameter) +
                     "', and the operator has: " + known,
                 "Correct the converter.");
  }
  return context.op().argument(parameter);
}

[[noreturn]] void wrong_type(OpContext& context, std::string_view parameter, const char* wanted) {
  const int i = context.op().signature->find(parameter);
  context.fail(Code::kBadConverter,
               "its converter reads '" + std::string(parameter) + "' as " + wanted +
                   ", and it is declared as " +
                   context.op().signature->parameters[static_cast<std::size_t>(i)].type,
               "Correct the converter.");
}

Attrs to_attributes(const OnnxAttributes& attributes) {
  Attrs made;
  for (const auto& [name, value] : attributes) {
    made.push_back(
        {name, std::visit([](const auto& held) -> onnx::Attribute::Value { return held; }, value)});
  }
  return made;
}

}  // namespace

DType OnnxValue::dtype() const {
  return Value(static_cast<Builder*>(builder_), id_).dtype();
}

const Shape& OnnxValue::shape() const {
  return static_cast<Builder*>(builder_)->value(id_).type.shape;
}

std::string OnnxOp::name() const {
  return context_of(context_).op().signature->qualified_name();
}

int OnnxOp::opset_version() const {
  return context_of(context_).opset();
}

std::string OnnxOp::source() const {
  return context_of(context_).op().source.to_string();
}

bool OnnxOp::is_none(std::string_view parameter) const {
  argument_of(context_of(context_), parameter);
  return context_of(context_).is_none(parameter);
}

OnnxValue OnnxOp::tensor(std::string_view parameter) {
  OpContext& context = context_of(context_);
  const ir::Argument& held = argument_of(context, parameter);
  if (context.is_none(parameter)) return {};
  if (!std::holds_alternative<ir::ValueRef>(held)) wrong_type(context, parameter, "a tensor");
  const Value value = context.tensor(parameter);
  return {&value.builder(), value.id()};
}

std::vector<OnnxValue> OnnxOp::tensors(std::string_view parameter) {
  OpContext& context = context_of(context_);
  const ir::Argument& held = argument_of(context, parameter);
  if (!std::holds_alternative<std::vector<ir::ValueRef>>(held)) {
    wrong_type(context, parameter, "a list of tensors");
  }
  std::vector<OnnxValue> values;
  for (const Value& value : context.tensors(parameter)) {
    values.push_back(value.defined() ? OnnxValue(&value.builder(), value.id()) : OnnxValue());
  }
  return values;
}

bool OnnxOp::flag(std::string_view parameter) const {
  OpContext& context = context_of(context_);
  if (!std::holds_alternative<bool>(argument_of(context, parameter))) {
    wrong_type(context, parameter, "a bool");
  }
  return context.flag(parameter);
}

std::int64_t OnnxOp::integer(std::string_view parameter) const {
  OpContext& context = context_of(context_);
  if (!std::holds_alternative<std::int64_t>(argument_of(context, parameter))) {
    wrong_type(context, parameter, "an integer");
  }
  return context.integer(parameter);
}

double OnnxOp::number(std::string_view parameter) const {
  OpContext& context = context_of(context_);
  const ir::Argument& held = argument_of(context, parameter);
  if (!std::holds_alternative<double>(held) && !std::holds_alternative<std::int64_t>(held)) {
    wrong_type(context, parameter, "a number");
  }
  return context.number(parameter);
}

std::string OnnxOp::text(std::string_view parameter) const {
  OpContext& context = context_of(context_);
  if (!std::holds_alternative<std::string>(argument_of(context, parameter))) {
    wrong_type(context, parameter, "a text");
  }
  return context.text(parameter);
}

std::vector<std::int64_t> OnnxOp::integers(std::string_view parameter) const {
  OpContext& context = context_of(context_);
  argument_of(context, parameter);
  return context.ints(parameter);
}

std::vector<double> OnnxOp::numbers(std::string_view parameter) const {
  OpContext& context = context_of(context_);
  argument_of(context, parameter);
  return context.numbers(parameter);
}

OnnxValue OnnxOp::constant(const ConstTensorView& view) {
  Builder& builder = context_of(context_).builder();
  const Value value = builder.constant(onnx_export::make_blob(view.dtype, view.shape, view.data));
  return {&builder, value.id()};
}

std::vector<OnnxValue> OnnxOp::emit_many(std::string_view op_type,
                                         const std::vector<OnnxValue>& inputs,
                                         const OnnxAttributes& attributes,
                                         const OnnxNodeOptions& options) {
  OpContext& context = context_of(context_);
  Builder& builder = context.builder();
  std::vector<Value> operands;
  for (const OnnxValue& input : inputs) {
    operands.push_back(input.defined() ? Value(&builder, input.id_) : Value());
  }
  std::vector<Type> types;
  for (const OnnxNodeOptions::Output& output : options.outputs) {
    types.push_back({output.dtype, output.shape});
  }
  if (types.empty()) types.push_back(context.result_type());
  if (!options.domain.empty()) builder.use_domain(options.domain, options.domain_version);
  std::vector<OnnxValue> made;
  for (const Value& value : builder.emit_custom(options.domain, op_type, operands,
                                                to_attributes(attributes), std::move(types))) {
    made.push_back({&builder, value.id()});
  }
  return made;
}

OnnxValue OnnxOp::emit(std::string_view op_type, const std::vector<OnnxValue>& inputs,
                       const OnnxAttributes& attributes, const OnnxNodeOptions& options) {
  return emit_many(op_type, inputs, attributes, options).at(0);
}

std::size_t OnnxOp::result_count() const {
  return context_of(context_).result_count();
}

DType OnnxOp::result_dtype(std::size_t i) const {
  return context_of(context_).result_dtype(i);
}

const Shape& OnnxOp::result_shape(std::size_t i) const {
  return context_of(context_).result_shape(i);
}

void OnnxOp::set_result(std::size_t i, OnnxValue value) {
  OpContext& context = context_of(context_);
  if (i >= context.result_count()) {
    context.fail(Code::kBadConverter,
                 "its converter sets result " + std::to_string(i) + " of " +
                     std::to_string(context.result_count()),
                 "Correct the converter.");
  }
  context.set(i, Value(&context.builder(), value.id_));
}

void OnnxOp::fail(const std::string& reason, const std::string& advice) const {
  context_of(context_).fail(reason, advice);
}

void register_onnx_converter(const std::string& qualified_name, OnnxConverter converter) {
  require(qualified_name.find("::") != std::string::npos, Code::kConverterName,
          "'" + qualified_name +
              "' is not a qualified operator name: write \"namespace::name\" or "
              "\"namespace::name.overload\"");
  require(static_cast<bool>(converter), Code::kConverterName,
          "the ONNX converter for " + qualified_name + " is empty");
  const std::unique_lock lock(customs().mutex);
  customs().converters[qualified_name] =
      std::make_shared<const OnnxConverter>(std::move(converter));
}

bool remove_onnx_converter(const std::string& qualified_name) {
  const std::unique_lock lock(customs().mutex);
  return customs().converters.erase(qualified_name) > 0;
}

namespace onnx_export {

std::shared_ptr<const OnnxConverter> find_custom(const std::string& qualified_name) {
  const std::shared_lock lock(customs().mutex);
  const auto found = customs().converters.find(qualified_name);
  return found == customs().converters.end() ? nullptr : found->second;
}

std::vector<std::string> custom_names() {
  const std::shared_lock lock(customs().mutex);
  std::vector<std::string> names;
  for (const auto& [name, converter] : customs().converters) names.push_back(name);
  return names;
}

void run_custom(const OnnxConverter& converter, OpContext& context) {
  OnnxOp op = OnnxOpAccess::make(context);
  converter(op);
  for (std::size_t i = 0; i < context.result_count(); ++i) {
    if (!context.is_used(i) || context.is_set(i)) continue;
    context.fail(Code::kBadConverter,
                 "its converter gave result " + std::to_string(i) + " no value",
                 "Call set_result for every result that is used.");
  }
}

}  // namespace onnx_export
}  // namespace leapp
