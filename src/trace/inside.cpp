#include "trace/inside.h"

#include <ATen/ops/clone.h>

#include <algorithm>
#include <string>
#include <utility>

#include "trace/dispatcher.h"
#include "trace/dynamic_dims.h"
#include "trace/functional.h"
#include "trace/op_traits.h"
#include "trace/wrapped_number.h"

namespace leapp::trace {
namespace {

constexpr NodeId kNode = 0;  // the only one of such a tape

class InsideRecorder final : public Observer {
 public:
  InsideRecorder(Tape& tape, CaptureTable& captures, FrameRef frame)
      : tape_(tape), captures_(captures), frame_(frame) {}

  void on_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
               torch::jit::Stack* stack) override;

  /// Returns whether operators describe the whole implementation.
  bool complete() const { return complete_; }

 private:
  Arg note(const c10::IValue& value, bool writes);

  Tape& tape_;
  CaptureTable& captures_;
  FrameRef frame_;
  bool entered_ = false;  // the decomposed operator was recorded itself
  bool complete_ = true;
  NodeId node_ = kNoId;         // frame of the call being recorded
  std::vector<VarId> written_;  // by it
};

Arg InsideRecorder::note(const c10::IValue& value, bool writes) {
  return tape_.argument_of(value, [&](const at::Tensor& tensor) {
    if (is_wrapped_number(tensor)) return kNoId;
    const VarId var = tape_.use(tensor);
    node_ = std::max(node_, tape_.variable(var).node);
    if (writes) {
      captures_.before_write(tensor);
      written_.push_back(var);
    }
    return var;
  });
}

void InsideRecorder::on_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                             torch::jit::Stack* stack) {
  if (!std::exchange(entered_, true)) {
    redispatch_below(op, keys, stack);
    return;
  }
  const OpTraits& traits = traits_of(op);
  const Unobserved guard;
  if (traits.only_metadata) {
    op.callBoxed(stack);
    return;
  }
  node_ = kNoId;
  written_.clear();
  std::vector<Arg> arguments;
  const std::size_t first = stack->size() - traits.writes.size();
  for (std::size_t i = 0; i < traits.writes.size(); ++i) {
    arguments.push_back(note((*stack)[first + i], traits.writes[i]));
  }
  const bool escapes = traits.escape != Escape::kNone && node_ != kNoId;
  const bool beyond = escapes || traits.is_random(*stack) ||
                      traits.undeclared_write(*stack) != UndeclaredWrite::kNone;
  complete_ = complete_ && !beyond;
  op.callBoxed(stack);
  if (!traits.returns_tensors && !traits.mutates) return;
  const auto results = std::span(*stack).last(op.schema().returns().size());
  if (traits.uninitialized) {
    for (const at::Tensor& made : tensors_in(results.data(), results.size())) {
      tape_.add_outside(made, true);
    }
    return;
  }
  tape_.append(op, frame_, node_, arguments, written_, results);
}

at::Tensor copied(const at::Tensor& tensor) {
  return is_wrapped_number(tensor) ? tensor : at::clone(tensor);
}

}  // namespace

bool is_aten(const c10::OperatorHandle& op) {
  return op.schema().name().starts_with("aten::");
}

bool is_users(const c10::OperatorHandle& op) {
  return !is_aten(op) && !op.schema().name().starts_with("torch_nn::");
}

bool can_look_inside(const c10::OperatorHandle& op) {
  return traits_of(op).counts_lengths || op.schema().name().starts_with("aten::_foreach_") ||
         (!is_aten(op) && !op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd));
}

std::optional<Inside> record_inside(const c10::OperatorHandle& op,
                                    const torch::jit::Stack& arguments, FrameRef frame) {
  Inside inside{std::make_unique<CaptureTable>(), {}, {}};
  Recording& recording = inside.recording;
  recording.tape = std::make_shared<Tape>(*inside.captures);
  torch::jit::Stack stack;
  for (const c10::IValue& argument : arguments) stack.push_back(map_tensors(argument, copied));
  for (const at::Tensor& tensor : tensors_in(stack.data(), stack.size())) {
    const bool is_value = tensor.defined() && !is_wrapped_number(tensor);
    recording.inputs.push_back(
        {.var = is_value ? recording.tape->add_input(tensor, kNode) : kNoId});
  }
  InsideRecorder recorder(*recording.tape, *inside.captures, frame);
  {
    const Observing observing(recorder);
    op.callBoxed(&stack);
  }
  if (!recorder.complete()) return std::nullopt;
  for (const c10::IValue& result : stack) {
    if (!result.isTensor() && !result.isTensorList()) return std::nullopt;
    const std::vector<at::Tensor> tensors = tensors_in(&result, 1);
    inside.list_sizes.push_back(result.isTensor() ? -1 : static_cast<int>(tensors.size()));
    for (const at::Tensor& tensor : tensors) {
      const auto var = recording.tape->find(tensor);
      const bool follows = tensor.numel() == 0 || (var && depends_on_inputs(*recording.tape, *var));
      if (!follows && !traits_of(op).counts_lengths) return std::nullopt;
      recording.outputs.push_back({.var = var ? *var : recording.tape->use(tensor)});
    }
  }
  for (std::size_t i = 0; i < recording.tape->calls().size(); ++i) {
    recording.calls.push_back(static_cast<std::int32_t>(i));
  }
  return inside;
}

}  // namespace leapp::trace
