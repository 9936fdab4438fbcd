#include "trace/op_traits.h"

#include <ATen/core/enum_tag.h>

#include <set>
#include <string>
#include <unordered_map>

namespace leapp::trace {
namespace {

bool holds_tensors(const c10::Type& type) {
  if (type.kind() == c10::TypeKind::TensorType) return true;
  for (const auto& inner : type.containedTypes()) {
    if (holds_tensors(*inner)) return true;
  }
  return false;
}

Escape escape_of(const std::string& name) {
  static const std::set<std::string> numbers = {"aten::item", "aten::_local_scalar_dense"};
  static const std::set<std::string> branches = {"aten::is_nonzero", "aten::equal",
                                                 "aten::allclose"};
  if (numbers.count(name) > 0) return Escape::kNumber;
  if (branches.count(name) > 0) return Escape::kBranch;
  return Escape::kNone;
}

UndeclaredWrite normalisation(const std::string& name) {
  if (name == "aten::native_batch_norm") return UndeclaredWrite::kItself;
  static const std::set<std::string> composites = {
      "aten::batch_norm", "aten::_batch_norm_impl_index", "aten::instance_norm"};
  return composites.count(name) > 0 ? UndeclaredWrite::kInside : UndeclaredWrite::kNone;
}

// PyTorch's tag is missing on composites of tagged operators, and linalg_lstsq() has it although
// only its residuals have a data-dependent shape.
bool size_depends_on_values(const c10::OperatorHandle& op) {
  static const std::set<std::string> composites = {"aten::where", "aten::nonzero_numpy",
                                                   "aten::repeat_interleave.self_Tensor"};
  const std::string name = c10::toString(op.operator_name());
  if (name == "aten::linalg_lstsq") return false;
  return op.hasTag(at::Tag::dynamic_output_shape) || composites.count(name) > 0;
}

bool counts_lengths(const c10::OperatorHandle& op) {
  static const std::set<std::string> names = {"aten::_pack_padded_sequence",
                                              "aten::_pad_packed_sequence",
                                              "aten::gru.data",
                                              "aten::lstm.data",
                                              "aten::rnn_tanh.data",
                                              "aten::rnn_relu.data"};
  return names.count(c10::toString(op.operator_name())) > 0;
}

bool only_copies(const std::string& name) {
  static const std::set<std::string> names = {
      "aten::clone",       "aten::detach",      "aten::contiguous",  "aten::to",
      "aten::_to_copy",    "aten::copy_",       "aten::alias",       "aten::cpu",
      "aten::cuda",        "aten::view_as",     "aten::reshape",     "aten::lift_fresh",
      "aten::expand_as",   "aten::view",        "aten::squeeze",     "aten::flatten",
      "aten::unsqueeze",   "aten::expand",      "aten::detach_copy", "aten::type_as",
      "aten::resolve_neg", "aten::resolve_conj"};
  return names.count(name) > 0;
}

OpTraits describe(const c10::OperatorHandle& op) {
  const c10::FunctionSchema& schema = op.schema();
  OpTraits traits;
  static const std::set<std::string> filling = {"aten::copy_", "aten::zero_", "aten::fill_"};
  const bool fills = filling.count(schema.name()) > 0;
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    const bool writes = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
    traits.writes.push_back(writes);
    traits.overwrites.push_back(writes && (argument.kwarg_only() || fills));
    traits.mutates |= writes;
    traits.takes_lists |=
        argument.type()->kind() == c10::TypeKind::ListType && holds_tensors(*argument.type());
    traits.aliases |= argument.alias_info() != nullptr;
    const std::string& name = argument.name();
    if (name == "train" || name == "training") traits.train = static_cast<int>(i);
    if (name == "p" || name == "dropout" || name == "dropout_p") {
      traits.dropout = static_cast<int>(i);
    }
  }
  for (const c10::Argument& result : schema.returns()) {
    traits.returns_tensors |= holds_tensors(*result.type());
  }
  traits.may_be_random = op.hasTag(at::Tag::nondeterministic_seeded);
  traits.escape = escape_of(schema.name());
  traits.size_depends_on_values = size_depends_on_values(op);
  if (traits.size_depends_on_values) {
    for (const char* name : {"num_classes", "output_size"}) {
      const auto index = schema.argumentIndexWithName(name);
      if (index) traits.size_argument = *index;
    }
  }
  traits.counts_lengths = counts_lengths(op);
  traits.only_copies = only_copies(schema.name());
  traits.normalises = normalisation(schema.name());
  // set_data and set_ are here because a tensor with replaced memory is recognised by that memory.
  static const std::set<std::string> metadata = {
      "aten::requires_grad_", "aten::retain_grad", "aten::set_data",
      "aten::_version",       "aten::is_leaf",     "aten::output_nr",
      "aten::detach_",        "aten::rename_",     "aten::set_"};
  traits.uninitialized =
      schema.name().rfind("aten::empty", 0) == 0 || schema.name().rfind("aten::new_empty", 0) == 0;
  traits.only_metadata = metadata.count(schema.name()) > 0;
  return traits;
}

// Returns whether a list of tensors has a more specific type than List[Tensor], as TorchScript's
// executor creates.
bool is_untyped(const c10::IValue& value) {
  if (!value.isList()) return false;
  const auto is_tensor = [](const c10::IValue& item) { return item.isTensor() || item.isNone(); };
  const auto items = value.toListRef();
  if (items.empty() || !is_tensor(items.front())) return false;  // fast for sizes
  return !value.isTensorList() && !value.isOptionalTensorList() &&
         std::all_of(items.begin(), items.end(), is_tensor);
}

}  // namespace

void OpTraits::type_lists(const c10::OperatorHandle& op, torch::jit::Stack* stack) const {
  if (!takes_lists) return;
  const auto& declared = op.schema().arguments();
  c10::IValue* const arguments = stack->data() + (stack->size() - declared.size());
  for (std::size_t i = 0; i < declared.size(); ++i) {
    if (!is_untyped(arguments[i])) continue;
    c10::impl::GenericList list(declared[i].type()->expectRef<c10::ListType>().getElementType());
    for (const c10::IValue& item : arguments[i].toListRef()) list.push_back(item);
    arguments[i] = std::move(list);
  }
}

bool OpTraits::is_random(const torch::jit::Stack& stack) const {
  if (!may_be_random) return false;
  const auto argument = [&](int i) -> const c10::IValue& {
    return stack[stack.size() - writes.size() + static_cast<std::size_t>(i)];
  };
  if (train >= 0 && argument(train).isBool() && !argument(train).toBool()) return false;
  if (dropout >= 0 && argument(dropout).isDouble() && argument(dropout).toDouble() == 0) {
    return false;
  }
  return true;
}

bool OpTraits::has_data_dependent_shape(const torch::jit::Stack& stack) const {
  if (!size_depends_on_values) return false;
  if (size_argument >= 0) {
    const c10::IValue& size =
        stack[stack.size() - writes.size() + static_cast<std::size_t>(size_argument)];
    return size.isNone() || (size.isInt() && size.toInt() < 0);
  }
  // Indexing has the tag only because of masks.
  const c10::IValue& last = stack.back();
  if (writes.size() != 2 || !last.isOptionalTensorList()) return true;
  for (const c10::IValue& index : last.toListRef()) {
    if (index.isTensor() && index.toTensor().defined() && is_mask(index.toTensor())) return true;
  }
  return false;
}

UndeclaredWrite OpTraits::undeclared_write(const torch::jit::Stack& stack) const {
  if (normalises == UndeclaredWrite::kNone) return UndeclaredWrite::kNone;
  // All of them have arguments that begin with (input, weight, bias, running_mean, running_var,
  // training, ..).
  const c10::IValue* arguments = stack.data() + (stack.size() - writes.size());
  const bool has_statistics = arguments[3].isTensor() && arguments[3].toTensor().defined();
  return has_statistics && arguments[5].toBool() ? normalises : UndeclaredWrite::kNone;
}

bool is_mask(const at::Tensor& index) {
  return index.scalar_type() == at::kBool || index.scalar_type() == at::kByte;
}

const c10::OperatorHandle& batch_norm_that_declares_its_write() {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("aten::_native_batch_norm_legit", "");
  return op;
}

const OpTraits& traits_of(const c10::OperatorHandle& op) {
  // Per thread, so that frequent calls take no lock.
  struct Entry {
    c10::OperatorName name{"", ""};
    OpTraits traits;
  };
  thread_local std::unordered_map<const void*, Entry> known;
  Entry& entry = known[&op.schema()];
  // A library that was unloaded may have left its schema's address to another operator.
  if (entry.name != op.operator_name()) entry = {op.operator_name(), describe(op)};
  return entry.traits;
}

}  // namespace leapp::trace
