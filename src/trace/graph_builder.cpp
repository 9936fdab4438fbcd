#include "trace/graph_builder.h"

#include <ATen/native/TypeProperties.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "interop/convert.h"
#include "trace/dispatcher.h"
#include "trace/op_traits.h"
#include "trace/shape_run.h"
#include "trace/strided.h"
#include "trace/varying.h"

namespace leapp::trace {
namespace {

// `x * 2` reaches the dispatcher as mul.Tensor with a tensor made of the number, which takes part
// in type promotion as a number would. Saying mul.Scalar keeps that meaning in every backend.
std::optional<c10::OperatorHandle> scalar_overload(const c10::OperatorHandle& op,
                                                   std::size_t position) {
  const c10::FunctionSchema& schema = op.schema();
  for (const char* overload : {"Scalar", "Tensor_Scalar", "Scalar_mode"}) {
    const auto found =
        c10::Dispatcher::singleton().findSchema({schema.name(), std::string(overload)});
    if (!found) continue;
    const auto& theirs = found->schema().arguments();
    const auto& ours = schema.arguments();
    if (theirs.size() != ours.size()) continue;
    bool fits = true;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const auto expected = i == position ? c10::TypeKind::NumberType : ours[i].type()->kind();
      fits &= theirs[i].name() == ours[i].name() && theirs[i].type()->kind() == expected;
    }
    if (fits) return found;
  }
  return std::nullopt;
}

// view() insists on a memory layout, and layouts mean nothing in a pure graph: reshape() is what is
// left of it.
c10::OperatorHandle without_layout(const c10::OperatorHandle& op) {
  static const auto reshape = c10::Dispatcher::singleton().findSchemaOrThrow("aten::reshape", "");
  const c10::OperatorName& name = op.operator_name();
  const bool view = (name.name == "aten::view" || name.name == "aten::_unsafe_view") &&
                    name.overload_name.empty();
  return view ? reshape : op;
}

bool is_wrapped_number(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() &&
         value.toTensor().unsafeGetTensorImpl()->is_wrapped_number();
}

// The type that the operator's tensors and numbers promote to together.
c10::ScalarType promoted_type(const c10::IValue* args, std::size_t count) {
  at::native::ResultTypeState state = {};
  for (std::size_t i = 0; i < count; ++i) {
    if (args[i].isTensor() && args[i].toTensor().defined()) {
      state = at::native::update_result_type_state(args[i].toTensor(), state);
    }
  }
  return at::native::result_type(state);
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

Varying GraphBuilder::varying_of(const at::Tensor& tensor) const {
  if (varying_.empty() || !tensor.defined()) return 0;
  const auto value = known_.find(tensor.unsafeGetTensorImpl());
  const auto it = value == known_.end() ? varying_.end() : varying_.find(value->second.value);
  return it == varying_.end() ? 0 : it->second;
}

// reshape() and expand() name all sizes. The one that varies may be left to them.
void GraphBuilder::let_sizes_vary(const c10::OperatorHandle& op, torch::jit::Stack* stack,
                                  const std::vector<Varying>& varying) const {
  const std::string& name = op.schema().name();
  const bool expands = name == "aten::expand";
  if (!expands && name != "aten::view" && name != "aten::reshape" && name != "aten::_unsafe_view") {
    return;
  }
  const std::size_t first = stack->size() - op.schema().arguments().size();
  torch::jit::Stack arguments(stack->begin() + static_cast<std::ptrdiff_t>(first), stack->end());
  if (!arguments[1].isIntList()) return;
  const auto is_fixed = [&] {
    torch::jit::Stack result = arguments;
    op.callBoxed(&result);
    return try_other_sizes(op, arguments, varying, result).fixed;
  };
  if (!is_fixed()) return;
  torch::jit::Stack result = arguments;
  op.callBoxed(&result);
  const std::vector<std::int64_t> sizes = result.back().toTensor().sizes().vec();
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    std::vector<std::int64_t> open = sizes;
    open[d] = -1;
    if (!expands && std::count(sizes.begin(), sizes.end(), 0) > (sizes[d] == 0 ? 1 : 0)) continue;
    arguments[1] = open;
    try {
      if (is_fixed()) continue;
    } catch (const c10::Error&) {
      continue;
    }
    (*stack)[first + 1] = arguments[1];
    return;
  }
}

ir::ValueId GraphBuilder::value_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return ir::kNoValue;
  const auto it = known_.find(tensor.unsafeGetTensorImpl());
  return it != known_.end() ? it->second.value : constant(tensor);
}

ir::ValueId GraphBuilder::constant(const at::Tensor& tensor) {
  // One constant per piece of memory, however many tensor objects look at it.
  ConstantKey key{tensor.has_storage() ? tensor.const_data_ptr() : nullptr, tensor.sizes().vec(),
                  tensor.strides().vec(), tensor.scalar_type(), tensor.device().str()};
  const bool shareable = tensor.numel() > 0 && !tensor.is_conj() && !tensor.is_neg();
  if (shareable) {
    const auto it = constants_.find(key);
    if (it != constants_.end()) return it->second;
  }
  // Fetched from a device by an operator, which nothing may wrap or note.
  const c10::impl::ExcludeDispatchKeyGuard plain{
      c10::DispatchKeySet(c10::DispatchKey::Functionalize)};
  const Unobserved unseen;
  const ir::ValueId id = graph_.add_constant(name_ ? name_(tensor) : "", interop::to_blob(tensor));
  held_constants_.push_back(tensor);
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

// The source with the type and shape of `like`, by operators that read nothing of `like` but sizes
// that vary.
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
    result = varying_of(like) != 0
                 ? call("aten::expand_as", "", {result, like}, where)
                 : call("aten::expand", "", {result, like.sizes().vec(), false}, where);
  }
  return result;
}

// Functionalised writes name the tensor they overwrite even where nothing of it is left. Saying so
// is what tells a scratch buffer from state.
bool GraphBuilder::run_simpler(const c10::OperatorHandle& op, torch::jit::Stack* stack,
                               const ir::SourceLocation& where) {
  const std::string& name = op.schema().name();
  const auto argument = [&](std::size_t i) -> c10::IValue& {
    return (*stack)[stack->size() - op.schema().arguments().size() + i];
  };
  const auto finish = [&](const at::Tensor& result) {
    stack->resize(stack->size() - op.schema().arguments().size());
    stack->emplace_back(result);
    return true;
  };
  if (name == "aten::copy") {
    const at::Tensor self = argument(0).toTensor();
    return finish(as_type(argument(1).toTensor(), self, where));
  }
  if (name == "aten::fill" || name == "aten::zero") {
    const at::Tensor self = argument(0).toTensor();
    if (name == "aten::zero" || !argument(1).isTensor()) {
      const Unobserved guard;
      const at::Scalar value = name == "aten::zero" ? at::Scalar(0) : argument(1).toScalar();
      if (varying_of(self) != 0) {
        return finish(call("aten::full_like", "",
                           {self, value, c10::IValue(), c10::IValue(), c10::IValue(), c10::IValue(),
                            c10::IValue()},
                           where));
      }
      return finish(at::full(self.sizes(), value, self.options()));
    }
    return finish(as_type(argument(1).toTensor(), self, where));
  }
  if (name == "aten::as_strided" || name == "aten::as_strided_copy" ||
      name == "aten::as_strided_scatter") {
    const bool scatter = name == "aten::as_strided_scatter";
    const std::size_t first = scatter ? 2 : 1;
    const at::Tensor self = argument(0).toTensor();
    const at::Tensor places = logical_places(
        self, argument(first).toIntVector(), argument(first + 1).toIntVector(),
        argument(first + 2).isNone() ? self.storage_offset() : argument(first + 2).toInt());
    at::Tensor flat = call("aten::reshape", "", {self, std::vector<std::int64_t>{-1}}, where);
    if (!scatter) {
      flat = call("aten::index_select", "", {flat, std::int64_t{0}, places}, where);
      return finish(call("aten::reshape", "", {flat, argument(1)}, where));
    }
    const at::Tensor source =
        call("aten::reshape", "", {argument(1), std::vector<std::int64_t>{-1}}, where);
    const c10::List<std::optional<at::Tensor>> indices({places});
    flat = call("aten::index_put", "", {flat, indices, source, false}, where);
    return finish(call("aten::reshape", "", {flat, self.sizes().vec()}, where));
  }
  if (name == "aten::slice_scatter") {
    const at::Tensor self = argument(0).toTensor();
    const at::Tensor source = argument(1).toTensor();
    const bool whole = source.sizes() == self.sizes() && argument(5).toInt() == 1;
    if (whole) return finish(as_type(source, self, where));
  }
  return false;
}

bool GraphBuilder::is_constant(const c10::OperatorHandle& op,
                               const torch::jit::Stack& stack) const {
  const auto count = static_cast<std::ptrdiff_t>(op.schema().arguments().size());
  return std::none_of(stack.end() - count, stack.end(),
                      [&](const c10::IValue& value) { return depends_on_inputs(value); });
}

void GraphBuilder::run(const c10::OperatorHandle& op, torch::jit::Stack* stack,
                       const ir::SourceLocation& where) {
  const c10::FunctionSchema& schema = op.schema();
  const std::size_t count = schema.arguments().size();
  const c10::IValue* args = stack->data() + (stack->size() - count);
  if (is_constant(op, *stack)) {
    call_unobserved(op, stack);
    return;
  }
  if (run_simpler(op, stack, where)) return;
  const Unobserved guard;  // what we ask of tensors from here on is our own business
  torch::jit::Stack before;
  std::vector<Varying> varying;
  if (!varying_.empty() || traits_of(op).size_depends_on_values) {
    before.assign(stack->end() - static_cast<std::ptrdiff_t>(count), stack->end());
    varying = varying_arguments(
        op, before, [&](const at::Tensor& tensor) { return varying_of(tensor); },
        [&](const at::Tensor& tensor) { return depends_on_inputs(tensor); });
    if (!varying.empty()) {
      let_sizes_vary(op, stack, varying);
      before.assign(stack->end() - static_cast<std::ptrdiff_t>(count), stack->end());
    }
  }
  ir::Op recorded;
  recorded.source = where;
  c10::OperatorHandle meant = without_layout(op);
  for (std::size_t i = 0; i < count; ++i) {
    const c10::Type& type = *schema.arguments()[i].real_type();
    if (!is_wrapped_number(args[i]) || depends_on_inputs(args[i])) {
      recorded.arguments.push_back(argument(args[i], type));
      continue;
    }
    const at::Tensor& number = args[i].toTensor();
    if (const auto overload = scalar_overload(meant, i)) {
      meant = *overload;
      recorded.arguments.push_back(
          interop::to_argument(c10::IValue(number.item()), *c10::NumberType::get()));
    } else {
      const at::Tensor typed = number.to(promoted_type(args, count));
      typed.unsafeGetTensorImpl()->set_wrapped_number(false);
      recorded.arguments.push_back(ir::ValueRef{constant(typed)});
    }
  }
  recorded.signature = interop::signature_of(meant);
  compute(op, stack);
  const std::size_t returns = schema.returns().size();
  for (std::size_t i = 0; i < returns; ++i) {
    recorded.results.push_back(define((*stack)[stack->size() - returns + i]));
  }
  if (!varying.empty()) {
    const torch::jit::Stack returned(stack->end() - static_cast<std::ptrdiff_t>(returns),
                                     stack->end());
    const SizeTrial trial = try_other_sizes(op, before, varying, returned);
    recorded.fixed_size = trial.fixed;
    const std::vector<at::Tensor> tensors = tensors_in(returned.data(), returned.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (trial.results[i] != 0) varying_[value_of(tensors[i])] = trial.results[i];
    }
  }
  graph_.append(std::move(recorded));
}

void GraphBuilder::compute(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  if (run_for_ == RunFor::kShapes) {
    const OpTraits& traits = traits_of(op);
    const bool value_matters = traits.escape != Escape::kNone || traits.has_size_of_values(*stack);
    require(!made_up_ || !value_matters, Code::kNotPure,
            op.schema().name() + " reads a value that was made up");
    if (is_large_product(op, *stack)) {
      made_up_ = true;
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
  return {false, {ir::kNoValue}};  // a number beside tensors: nothing in the graph can read it
}

}  // namespace leapp::trace
