#include "trace/graph_builder.h"

#include <ATen/ops/full.h>

#include <algorithm>

#include "base/check.h"
#include "interop/convert.h"
#include "trace/dispatcher.h"
#include "trace/dynamic_dims.h"
#include "trace/op_traits.h"
#include "trace/shape_run.h"
#include "trace/strided.h"
#include "trace/wrapped_number.h"

namespace leapp::trace {
namespace {

// view() requires a memory layout, which a pure graph does not have, so it becomes reshape(). For
// view(dtype), TorchScript has only the copying variant.
c10::OperatorHandle without_layout(const c10::OperatorHandle& op) {
  static auto& dispatcher = c10::Dispatcher::singleton();
  static const auto reshape = dispatcher.findSchemaOrThrow("aten::reshape", "");
  static const auto bits = dispatcher.findSchemaOrThrow("aten::view_copy", "dtype");
  const c10::OperatorName& name = op.operator_name();
  if (name.name != "aten::view" && name.name != "aten::_unsafe_view") return op;
  return name.overload_name.empty() ? reshape : bits;
}

torch::jit::Stack last_of(const torch::jit::Stack& stack, std::size_t count) {
  return torch::jit::Stack(stack.end() - static_cast<std::ptrdiff_t>(count), stack.end());
}

}  // namespace

ir::ValueId GraphBuilder::add_input(std::string name, const at::Tensor& tensor) {
  const ir::ValueId id = graph_.add_input(std::move(name), interop::type_of(tensor));
  known_.insert_or_assign(
      tensor.unsafeGetTensorImpl(),
      Known{c10::weak_intrusive_ptr<c10::TensorImpl>(tensor.getIntrusivePtr()), id});
  return id;
}

bool GraphBuilder::depends_on_inputs(const c10::IValue& value) const {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    if (!tensor.defined()) return false;
    const auto it = known_.find(tensor.unsafeGetTensorImpl());
    return it != known_.end() && !graph_.is_constant(it->second.value);
  }
  if (value.isTensorList() || value.isOptionalTensorList() || value.isList()) {
    for (const c10::IValue& item : value.toListRef()) {
      if (depends_on_inputs(item)) return true;
    }
  }
  return false;
}

DynamicDims GraphBuilder::dynamic_dims_of(const at::Tensor& tensor) const {
  if (dynamic_dims_.empty() || !tensor.defined()) return 0;
  const auto value = known_.find(tensor.unsafeGetTensorImpl());
  if (value == known_.end()) return 0;
  const auto it = dynamic_dims_.find(value->second.value);
  return it == dynamic_dims_.end() ? 0 : it->second;
}

// Empty if no shape is data-dependent.
std::vector<DynamicDims> GraphBuilder::dynamic_arguments(const c10::OperatorHandle& op,
                                                         const torch::jit::Stack& stack) const {
  if (dynamic_dims_.empty() && !traits_of(op).size_depends_on_values) return {};
  return dynamic_dims_of_arguments(
      op, last_of(stack, op.schema().arguments().size()),
      [&](const at::Tensor& tensor) { return dynamic_dims_of(tensor); },
      [&](const at::Tensor& tensor) { return depends_on_inputs(tensor); });
}

// reshape() and expand() name all sizes. The dynamic one can be left to be inferred, as -1.
void GraphBuilder::infer_dynamic_size(const c10::OperatorHandle& op, torch::jit::Stack* stack,
                                      const std::vector<DynamicDims>& dynamic) const {
  const std::string& name = op.schema().name();
  const bool expands = name == "aten::expand";
  if (!expands && name != "aten::view" && name != "aten::reshape" && name != "aten::_unsafe_view") {
    return;
  }
  torch::jit::Stack arguments = last_of(*stack, op.schema().arguments().size());
  if (!arguments[1].isIntList()) return;
  torch::jit::Stack result;
  const auto is_specialised = [&] {
    result = arguments;
    op.callBoxed(&result);
    return try_other_sizes(op, arguments, dynamic, result).fixed;
  };
  if (!is_specialised()) return;
  const std::vector<std::int64_t> sizes = result.back().toTensor().sizes().vec();
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    std::vector<std::int64_t> open = sizes;
    open[d] = -1;
    if (!expands && std::count(sizes.begin(), sizes.end(), 0) > (sizes[d] == 0 ? 1 : 0)) continue;
    arguments[1] = open;
    try {
      if (is_specialised()) continue;
    } catch (const c10::Error&) {
      continue;
    }
    (*stack)[stack->size() - arguments.size() + 1] = arguments[1];
    return;
  }
}

ir::ValueId GraphBuilder::value_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return ir::kNoValue;
  const auto it = known_.find(tensor.unsafeGetTensorImpl());
  return it != known_.end() ? it->second.value : constant(tensor);
}

ir::ValueId GraphBuilder::constant(const at::Tensor& tensor) {
  // One constant per piece of memory, however many tensor objects use it.
  ConstantKey key{tensor.has_storage() ? tensor.const_data_ptr() : nullptr, tensor.sizes().vec(),
                  tensor.strides().vec(), tensor.scalar_type(), tensor.device().str()};
  const bool shareable = tensor.numel() > 0 && !tensor.is_conj() && !tensor.is_neg();
  if (shareable) {
    const auto it = constants_.find(key);
    if (it != constants_.end()) return it->second;
  }
  // Copied from a device by an operator that nothing may intercept or record.
  const c10::impl::ExcludeDispatchKeyGuard plain{
      c10::DispatchKeySet(c10::DispatchKey::Functionalize)};
  const Unobserved unseen;
  const ir::ValueId id = graph_.add_constant(name_ ? name_(tensor) : "", interop::to_blob(tensor));
  constant_tensors_.push_back(tensor);
  if (shareable) constants_.emplace(std::move(key), id);
  return id;
}

ir::Argument GraphBuilder::argument(const c10::IValue& value, const c10::Type& type) {
  if (value.isTensor()) {
    if (!value.toTensor().defined()) return std::monostate{};
    return ir::ValueRef{value_of(value.toTensor())};
  }
  if (value.isTensorList() || value.isOptionalTensorList()) {
    std::vector<ir::ValueRef> refs;
    for (const c10::IValue& item : value.toListRef()) {
      refs.push_back({item.isTensor() ? value_of(item.toTensor()) : ir::kNoValue});
    }
    return refs;
  }
  return interop::to_argument(value, type);
}

at::Tensor GraphBuilder::call(const char* name, const char* overload, torch::jit::Stack arguments,
                              const ir::SourceLocation& where) {
  run(c10::Dispatcher::singleton().findSchemaOrThrow(name, overload), &arguments, where);
  return arguments.back().toTensor();
}

// Creates a tensor with the type and shape of `like`, by operators that read only its dynamic
// sizes.
at::Tensor GraphBuilder::as_type(const at::Tensor& tensor, const at::Tensor& like,
                                 const ir::SourceLocation& where) {
  at::Tensor result = tensor;
  if (tensor.scalar_type() != like.scalar_type() || tensor.device() != like.device()) {
    const bool moves = tensor.device() != like.device();
    result = call(
        "aten::_to_copy", "",
        {result, static_cast<std::int64_t>(like.scalar_type()), c10::IValue(),
         moves ? c10::IValue(like.device()) : c10::IValue(), c10::IValue(), false, c10::IValue()},
        where);
  }
  if (tensor.sizes() != like.sizes()) {
    result = dynamic_dims_of(like) != 0
                 ? call("aten::expand_as", "", {result, like}, where)
                 : call("aten::expand", "", {result, like.sizes().vec(), false}, where);
  }
  return result;
}

at::Tensor GraphBuilder::filled(const at::Tensor& like, const c10::IValue& value,
                                const ir::SourceLocation& where) {
  if (value.isTensor()) return as_type(value.toTensor(), like, where);
  const Unobserved guard;
  if (dynamic_dims_of(like) != 0) {
    const c10::IValue none;
    return call("aten::full_like", "", {like, value, none, none, none, none, none}, where);
  }
  return at::full(like.sizes(), value.toScalar(), like.options());
}

// as_strided(), as_strided_copy(), and as_strided_scatter() with its `source`. `geometry` points to
// sizes, strides and offset.
at::Tensor GraphBuilder::strided(const at::Tensor& self, const at::Tensor& source,
                                 const c10::IValue* geometry, const ir::SourceLocation& where) {
  const std::vector<std::int64_t> sizes = geometry[0].toIntVector();
  const std::vector<std::int64_t> strides = geometry[1].toIntVector();
  const std::int64_t offset = geometry[2].isNone() ? self.storage_offset() : geometry[2].toInt();
  if (const auto ranges = slices_of(self, sizes, strides, offset)) {
    return sliced(self, source, *ranges, sizes, where);
  }
  const std::vector<std::int64_t> all = {-1};
  const at::Tensor positions = logical_positions(self, sizes, strides, offset);
  at::Tensor flat = call("aten::reshape", "", {self, all}, where);
  if (!source.defined()) {
    flat = call("aten::index_select", "", {flat, std::int64_t{0}, positions}, where);
    return call("aten::reshape", "", {flat, sizes}, where);
  }
  const at::Tensor values = call("aten::reshape", "", {source, all}, where);
  const c10::List<std::optional<at::Tensor>> indices({positions});
  flat = call("aten::index_put", "", {flat, indices, values, false}, where);
  return call("aten::reshape", "", {flat, self.sizes().vec()}, where);
}

// The same by slices, if possible.
at::Tensor GraphBuilder::sliced(const at::Tensor& self, const at::Tensor& source,
                                const std::vector<Range>& ranges,
                                const std::vector<std::int64_t>& sizes,
                                const ir::SourceLocation& where) {
  std::vector<std::pair<at::Tensor, std::int64_t>>
      around;  // the input and the dimension of each slice
  at::Tensor part = self;
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    const Range& range = ranges[static_cast<std::size_t>(d)];
    if (range.count == self.size(d)) continue;
    around.emplace_back(part, d);
    part = call("aten::slice", "Tensor", {part, d, range.begin, range.end(), range.step}, where);
  }
  const auto shaped = [&](const at::Tensor& tensor, at::IntArrayRef shape) {
    return tensor.sizes() == shape ? tensor
                                   : call("aten::reshape", "", {tensor, shape.vec()}, where);
  };
  if (!source.defined()) return shaped(part, sizes);
  at::Tensor result = shaped(source, part.sizes());
  for (auto it = around.rbegin(); it != around.rend(); ++it) {
    const Range& range = ranges[static_cast<std::size_t>(it->second)];
    result = call("aten::slice_scatter", "",
                  {it->first, result, it->second, range.begin, range.end(), range.step}, where);
  }
  return result;
}

// Functionalised writes refer to the tensor that they overwrite, even if none of it remains.
// Removing this reference distinguishes a scratch buffer from state.
bool GraphBuilder::decompose(const c10::OperatorHandle& op, torch::jit::Stack* stack,
                             const ir::SourceLocation& where) {
  const std::string& name = op.schema().name();
  const std::size_t count = op.schema().arguments().size();
  const c10::IValue* args = stack->data() + (stack->size() - count);
  at::Tensor result;
  if (name == "aten::copy") {
    result = as_type(args[1].toTensor(), args[0].toTensor(), where);
  } else if (name == "aten::fill") {
    result = filled(args[0].toTensor(), args[1], where);
  } else if (name == "aten::zero") {
    result = filled(args[0].toTensor(), std::int64_t{0}, where);
  } else if (name == "aten::as_strided" || name == "aten::as_strided_copy") {
    result = strided(args[0].toTensor(), {}, args + 1, where);
  } else if (name == "aten::as_strided_scatter") {
    result = strided(args[0].toTensor(), args[1].toTensor(), args + 2, where);
  } else if (name == "aten::slice_scatter" && args[5].toInt() == 1 &&
             args[1].toTensor().sizes() == args[0].toTensor().sizes()) {
    result = as_type(args[1].toTensor(), args[0].toTensor(), where);
  } else {
    return false;
  }
  stack->resize(stack->size() - count);
  stack->emplace_back(result);
  return true;
}

bool GraphBuilder::is_constant(const c10::OperatorHandle& op,
                               const torch::jit::Stack& stack) const {
  const auto count = static_cast<std::ptrdiff_t>(op.schema().arguments().size());
  return std::none_of(stack.end() - count, stack.end(),
                      [&](const c10::IValue& value) { return depends_on_inputs(value); });
}

void GraphBuilder::run(const c10::OperatorHandle& op, torch::jit::Stack* stack,
                       const ir::SourceLocation& where) {
  if (is_constant(op, *stack)) {
    call_unobserved(op, stack);
    return;
  }
  if (decompose(op, stack, where)) return;
  const Unobserved guard;  // queries of tensors from here on are not recorded
  const std::size_t count = op.schema().arguments().size();
  const std::vector<DynamicDims> dynamic = dynamic_arguments(op, *stack);
  torch::jit::Stack arguments;
  if (!dynamic.empty()) {
    infer_dynamic_size(op, stack, dynamic);
    arguments = last_of(*stack, count);
  }
  ir::Op recorded = describe(op, stack->data() + (stack->size() - count));
  recorded.source = where;
  recorded.random = traits_of(op).is_random(*stack);
  compute(op, stack);
  const std::size_t returns = op.schema().returns().size();
  for (std::size_t i = stack->size() - returns; i < stack->size(); ++i) {
    recorded.results.push_back(define((*stack)[i]));
  }
  if (!dynamic.empty()) {
    const torch::jit::Stack returned = last_of(*stack, returns);
    const SizeTrial trial = try_other_sizes(op, arguments, dynamic, returned);
    recorded.fixed_size = trial.fixed;
    const std::vector<at::Tensor> tensors = tensors_in(returned.data(), returned.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (trial.results[i] != 0) dynamic_dims_[value_of(tensors[i])] = trial.results[i];
    }
  }
  graph_.append(std::move(recorded));
}

// The call as an operation, without its results.
ir::Op GraphBuilder::describe(const c10::OperatorHandle& op, const c10::IValue* args) {
  const auto& declared = op.schema().arguments();
  ir::Op described;
  c10::OperatorHandle meant = without_layout(op);
  for (std::size_t i = 0; i < declared.size(); ++i) {
    if (!is_wrapped_number(args[i]) || depends_on_inputs(args[i])) {
      described.arguments.push_back(argument(args[i], *declared[i].real_type()));
      continue;
    }
    const at::Tensor& number = args[i].toTensor();
    if (const auto overload = scalar_overload(meant, i)) {
      meant = *overload;
      described.arguments.push_back(
          interop::to_argument(c10::IValue(number.item()), *c10::NumberType::get()));
    } else {
      const at::Tensor typed = number.to(promoted_type(args, declared.size()));
      typed.unsafeGetTensorImpl()->set_wrapped_number(false);
      described.arguments.push_back(ir::ValueRef{constant(typed)});
    }
  }
  described.signature = interop::signature_of(meant);
  return described;
}

void GraphBuilder::compute(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  if (run_for_ == RunFor::kShapes) {
    const OpTraits& traits = traits_of(op);
    const bool reads_values =
        traits.escape != Escape::kNone || traits.has_data_dependent_shape(*stack);
    require(!has_placeholders_ || !reads_values, Code::kNotPure,
            op.schema().name() + " reads a value that was not computed");
    if (is_large_product(op, *stack)) {
      has_placeholders_ = true;
      run_on_shapes(op, stack);
      return;
    }
  }
  op.callBoxed(stack);
}

ir::ValueId GraphBuilder::define_tensor(const at::Tensor& tensor) {
  if (!tensor.defined()) return ir::kNoValue;
  const ir::ValueId id = graph_.add_result(interop::type_of(tensor));
  known_.insert_or_assign(
      tensor.unsafeGetTensorImpl(),
      Known{c10::weak_intrusive_ptr<c10::TensorImpl>(tensor.getIntrusivePtr()), id});
  return id;
}

ir::Result GraphBuilder::define(const c10::IValue& value) {
  if (value.isTensor()) return {false, {define_tensor(value.toTensor())}};
  ir::Result result{true, {}};
  if (value.isTensorList() || value.isOptionalTensorList()) {
    for (const c10::IValue& item : value.toListRef()) {
      result.values.push_back(item.isTensor() ? define_tensor(item.toTensor()) : ir::kNoValue);
    }
    return result;
  }
  return {false, {ir::kNoValue}};  // a number among tensors, which nothing in the graph reads
}

}  // namespace leapp::trace
