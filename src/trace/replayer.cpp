#include "trace/replayer.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/InferenceMode.h>

#include "base/check.h"
#include "trace/op_traits.h"

namespace leapp::trace {

Replayer::Replayer(const Recording& recording, const std::vector<StateSlot>& slots)
    : recording_(recording), slots_(slots), tape_(*recording.tape) {
  find_written_stores();
}

void Replayer::find_written_stores() {
  written_.assign(tape_.store_count(), false);
  const auto mark = [&](VarId var) {
    if (var == kNoId || tape_.variable(var).store == kNoId) return;
    written_[static_cast<std::size_t>(tape_.variable(var).store)] = true;
  };
  for (const std::int32_t index : recording_.calls) {
    const Call& call = tape_.call(index);
    const OpTraits& traits = traits_of(call.op);
    if (!traits.mutates) continue;
    const Arg* args = tape_.args_of(call);
    for (std::size_t i = 0; i < traits.writes.size(); ++i) {
      if (!traits.writes[i]) continue;
      if (args[i].kind == Arg::Kind::kTensor) mark(args[i].var);
      for (std::int32_t k = 0; k < args[i].list_size; ++k) {
        mark(tape_.list_item(args[i].list_begin + k));
      }
    }
  }
}

at::Tensor Replayer::laid_out(VarId var, const at::Tensor& value) const {
  const at::Tensor like = tape_.variable(var).held;
  at::Tensor plain = at::has_internal_overlap(like) == at::MemOverlap::No
                         ? at::empty_strided(like.sizes(), like.strides(), value.options())
                         : at::empty(value.sizes(), value.options());
  plain.copy_(value);
  return plain;
}

at::Tensor Replayer::tensor_at(const Site& site, VarId var) {
  if (const auto slot = given_.find(site); slot != given_.end()) return slot_inputs_[slot->second];
  return tensor_of(var);
}

at::Tensor Replayer::tensor_of(VarId var) {
  if (var == kNoId) return {};
  const auto it = values_.find(var);
  if (it != values_.end()) return it->second;
  at::Tensor content = tensor_content(var);
  const StoreId store = tape_.variable(var).store;
  if (store != kNoId && written_[static_cast<std::size_t>(store)]) content = writable(content);
  values_.emplace(var, content);
  return content;
}

at::Tensor Replayer::tensor_content(VarId var) const {
  const Variable& variable = tape_.variable(var);
  demand(variable.held.defined(), "a replayed call reads a result that no call produced");
  const auto capture = variable.store == kNoId ? nullptr : tape_.store(variable.store).capture;
  if (!capture) return variable.held;
  if (capture->changed_unseen()) {
    const std::string name = name_of(variable.held);
    throw Error(
        Code::kChanged,
        "the tensor " + (name.empty() ? "" : "'" + name + "' ") + "of shape " +
            c10::str(variable.held.sizes()) +
            " changed after the trace in a way that LEAPP does not see: after leapp.stop(), "
            "through .data, or in another library. Call leapp.compile_graph() before the program "
            "continues, or pass the tensor through annotate.input_tensors().");
  }
  return capture->content(variable.held);
}

c10::IValue Replayer::argument_of(const Site& site, const Arg& arg, const c10::Argument& declared) {
  switch (arg.kind) {
    case Arg::Kind::kValue:
      return arg.value;
    case Arg::Kind::kTensor:
      return arg.var == kNoId ? c10::IValue() : tensor_at(site, arg.var);
    case Arg::Kind::kTensorList:
      break;
  }
  const bool optional_items = declared.type()->str().find("Optional") != std::string::npos ||
                              declared.type()->str().find("?") != std::string::npos;
  if (optional_items) {
    c10::List<std::optional<at::Tensor>> list;
    for (std::int32_t k = 0; k < arg.list_size; ++k) {
      const VarId var = tape_.list_item(arg.list_begin + k);
      list.push_back(var == kNoId ? std::nullopt
                                  : std::optional(tensor_at({site.call, site.arg, k}, var)));
    }
    return list;
  }
  c10::List<at::Tensor> list;
  for (std::int32_t k = 0; k < arg.list_size; ++k) {
    list.push_back(tensor_at({site.call, site.arg, k}, tape_.list_item(arg.list_begin + k)));
  }
  return list;
}

torch::jit::Stack Replayer::arguments_of(std::int32_t index) {
  const Call& call = tape_.call(index);
  torch::jit::Stack stack;
  const auto& declared = call.op.schema().arguments();
  const Arg* args = tape_.args_of(call);
  for (std::size_t i = 0; i < declared.size(); ++i) {
    stack.push_back(argument_of({index, static_cast<std::int32_t>(i), -1}, args[i], declared[i]));
  }
  if (call.is_inferred_view()) {
    stack.back() = stack.back().toInt() + stack.front().toTensor().storage_offset();
  }
  static const c10::OperatorName as_strided("aten::as_strided", "");
  if (!call.is_inferred_view() && call.op.operator_name() == as_strided && stack.back().isInt()) {
    // An offset of the user counts from the start of the traced tensor's memory.
    const at::Tensor& traced = tape_.variable(args[0].var).held;
    const at::Tensor self = stack.front().toTensor();
    if (traced.defined()) {
      stack.back() = stack.back().toInt() - traced.storage_offset() + self.storage_offset();
    }
  }
  return stack;
}

void Replayer::assign(const CallResult& result, const c10::IValue& value) {
  if (!result.is_tensor) return;
  if (!result.is_list) {
    if (result.var != kNoId) values_.insert_or_assign(result.var, value.toTensor());
    return;
  }
  const auto items = value.toTensorVector();
  for (std::int32_t k = 0; k < result.list_size; ++k) {
    const VarId var = tape_.list_item(result.list_begin + k);
    if (var != kNoId) values_.insert_or_assign(var, items.at(static_cast<std::size_t>(k)));
  }
}

at::Tensor Replay::writable(const at::Tensor& content) {
  const bool plain = at::has_internal_overlap(content) == at::MemOverlap::No;
  at::Tensor copy = plain ? at::empty_strided(content.sizes(), content.strides(), content.options())
                          : at::empty(content.sizes(), content.options());
  return copy.copy_(content);
}

Replay::Values Replay::run(const std::vector<at::Tensor>& inputs,
                           const std::vector<at::Tensor>& states) && {
  const at::NoGradGuard no_grad;
  const c10::InferenceMode not_inference(false);
  for (std::size_t i = 0; i < recording_.inputs.size(); ++i) {
    const VarId var = recording_.inputs[i].var;
    values_.insert_or_assign(var, laid_out(var, inputs.at(i)));
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const StateSlot& slot = slots_[i];
    slot_inputs_.push_back(slot.before == kNoId ? states.at(i).clone()
                                                : laid_out(slot.before, states.at(i)));
    if (slot.before != kNoId) values_.insert_or_assign(slot.before, slot_inputs_.back());
    for (const Site& site : slot.sites) given_[site] = i;
  }
  const std::vector<at::Tensor> before = [&] {
    std::vector<at::Tensor> copies;
    for (const at::Tensor& value : slot_inputs_) copies.push_back(value.clone());
    return copies;
  }();
  for (const std::int32_t index : recording_.calls) {
    const Call& call = tape_.call(index);
    torch::jit::Stack stack = arguments_of(index);
    call.op.callBoxed(&stack);
    const CallResult* results = tape_.results_of(call);
    for (std::size_t i = 0; i < stack.size(); ++i) assign(results[i], stack[i]);
  }
  Values values;
  for (const Recording::Port& port : recording_.outputs)
    values.outputs.push_back(tensor_of(port.var));
  for (const StateSlot& slot : slots_) {
    values.after.push_back(slot.after != kNoId ? tensor_of(slot.after)
                           : slot.same_as      ? before[*slot.same_as]
                                               : slot.constant);
  }
  return values;
}

}  // namespace leapp::trace
