#include "trace/purify.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "interop/convert.h"
#include "trace/dispatcher.h"
#include "trace/functional.h"
#include "trace/graph_builder.h"
#include "trace/inside.h"
#include "trace/op_traits.h"
#include "trace/replayer.h"

namespace leapp::trace {
namespace {

class Purifier final : public Observer, private Replayer {
 public:
  Purifier(const Recording& recording, const std::vector<StateSlot>& slots,
           const PurifyOptions& options, GraphBuilder& builder,
           std::vector<Purified::Opened>& opened)
      : Replayer(recording, slots), options_(options), builder_(builder), opened_(opened) {}

  Purified run(const std::vector<at::Tensor>& examples);

  void on_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
               torch::jit::Stack* stack) override;

 private:
  at::Tensor writable(const at::Tensor& content) override { return wrap(content); }
  std::string name_of(const at::Tensor& tensor) const override { return options_.name(tensor); }
  void bind(VarId var, const std::string& name, const at::Tensor& value);
  void bind(const StateSlot& slot);
  void replay(std::int32_t index);
  [[noreturn]] void refuse_alias(std::int32_t index) const;
  void run_whole(const c10::OperatorHandle& op, torch::jit::Stack* stack);
  std::optional<Inside> inside_of(const c10::OperatorHandle& op, torch::jit::Stack args);
  bool open_up(const c10::OperatorHandle& op, torch::jit::Stack* stack);
  ir::ValueId final_value(const at::Tensor& tensor);
  ir::ValueId final_value(const StateSlot& slot);

  const PurifyOptions& options_;
  GraphBuilder& builder_;
  std::vector<Purified::Opened>& opened_;
  const Call* call_ = nullptr;  // the call being replayed
  bool outermost_ = false;      // its own operator was not seen yet
  ir::SourceLocation where_;
};

void Purifier::bind(VarId var, const std::string& name, const at::Tensor& value) {
  const at::Tensor plain = laid_out(var, value);
  builder_.add_input(name, plain);
  values_.insert_or_assign(var, wrap(plain));
}

void Purifier::bind(const StateSlot& slot) {
  if (slot.before != kNoId) {
    bind(slot.before, slot.name, tensor_content(slot.before));
    slot_inputs_.push_back(values_.at(slot.before));
    return;
  }
  const at::Tensor plain = slot.value.clone(at::MemoryFormat::Contiguous);
  builder_.add_input(slot.name, plain);
  for (const Site& site : slot.sites) given_[site] = slot_inputs_.size();
  slot_inputs_.push_back(wrap(plain));
}

void Purifier::replay(std::int32_t index) {
  const Call& call = tape_.call(index);
  torch::jit::Stack stack = arguments_of(index);
  call_ = &call;
  outermost_ = true;
  where_ = resolve_source(call.frame);
  try {
    call.op.callBoxed(&stack);
  } catch (const Error&) {
    const VarId of = tape_.args_of(call)->var;
    const bool is_around =
        call.is_inferred_view() && tape_.variable(of).origin == Variable::Origin::kInput;
    if (is_around) refuse_alias(index);
    throw;
  } catch (const std::exception& error) {
    // PyTorch appends its source line and advice for its own tools to an error.
    const auto* own = dynamic_cast<const c10::Error*>(&error);
    std::string reason = own == nullptr ? error.what() : own->what_without_backtrace();
    reason.resize(std::min(reason.size(), reason.find('\n')));
    throw Error(Code::kNotPure, c10::toString(call.op.operator_name()) + " at " +
                                    (where_.known() ? where_.to_string() : "an unknown line") +
                                    " could not be turned into a pure operation: " + reason +
                                    (reason.ends_with('.') ? "" : ".") +
                                    " Use other operators, or try a different export_with.");
  }
  const CallResult* results = tape_.results_of(call);
  for (std::size_t i = 0; i < stack.size(); ++i) assign(results[i], stack[i]);
}

// The memory around an input is not part of the input, so its content at run time is unknown.
void Purifier::refuse_alias(std::int32_t index) const {
  const Call& alias = tape_.call(index);
  const VarId found = tape_.results_of(alias)->var;
  FrameRef where;
  for (const std::int32_t later : recording_.calls) {
    const Call& call = tape_.call(later);
    const bool is_known = where.code != nullptr;
    for_each_variable(tape_, call, [&](VarId var) {
      if (var == found && !is_known) where = call.frame;
    });
  }
  throw Error(Code::kNotPure,
              line_prefix(where) + "the node uses a tensor of shape " +
                  c10::str(at::IntArrayRef(tape_.args_of(alias)[1].value.toIntVector())) +
                  " whose memory contains one of its inputs, a view. Pass it through "
                  "annotate.input_tensors(), too.");
}

void Purifier::on_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                       torch::jit::Stack* stack) {
  if (is_on_meta(op, *stack)) {
    run_on_meta(op, stack);
    return;
  }
  if (!keys.has(c10::DispatchKey::Functionalize)) {
    builder_.run(op, stack, where_);
    return;
  }
  const bool first = std::exchange(outermost_, false);
  if (const auto view = declared_view(op)) {
    view->callBoxed(stack);
    return;
  }
  const bool undeclared_alias = first && call_->undeclared_alias;
  const OpTraits& traits = traits_of(op);
  const bool composite = op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
  if (!traits.mutates && !traits.aliases && !undeclared_alias && options_.keep(op)) {
    run_whole(op, stack);
  } else if (undeclared_alias && composite) {
    op.callBoxedForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd, *stack);
  } else if (!can_look_inside(op) || !open_up(op, stack)) {
    redispatch_below(op, keys, stack);
  }
}

void Purifier::run_whole(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const std::size_t count = op.schema().arguments().size();
  for (std::size_t i = stack->size() - count; i < stack->size(); ++i) {
    (*stack)[i] = map_tensors((*stack)[i], unwrap);
  }
  {
    const NotFunctionalising plain;
    builder_.run(op, stack, where_);
  }
  const std::size_t returns = op.schema().returns().size();
  for (std::size_t i = stack->size() - returns; i < stack->size(); ++i) {
    (*stack)[i] = map_tensors((*stack)[i], wrap);
  }
}

// Returns the operators that the implementation runs for these arguments.
std::optional<Inside> Purifier::inside_of(const c10::OperatorHandle& op, torch::jit::Stack args) {
  for (c10::IValue& value : args) value = map_tensors(value, unwrap);
  require(!traits_of(op).counts_lengths || !builder_.depends_on_inputs(args[1]), Code::kNotPure,
          c10::toString(op.operator_name()) + " at " + where_.to_string() +
              ": the node computes the lengths of the sequences, but sizes in a model are fixed. "
              "Give the lengths as numbers, or run over the padded batch and mask the result.");
  const NotFunctionalising guard;
  return record_inside(op, args, call_->frame);
}

// Replays it instead of the operator; false if there is nothing to replay.
bool Purifier::open_up(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto count = static_cast<std::ptrdiff_t>(op.schema().arguments().size());
  const torch::jit::Stack arguments(stack->end() - count, stack->end());
  const std::optional<Inside> inside = inside_of(op, arguments);
  if (!inside) return false;
  if (is_users(op)) opened_.push_back({c10::toString(op.operator_name()), where_});
  static const std::vector<StateSlot> kNoSlots;
  Purifier inner(inside->recording, kNoSlots, options_, builder_, opened_);
  const std::vector<at::Tensor> given = tensors_in(arguments.data(), arguments.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const VarId var = inside->recording.inputs[i].var;
    if (var != kNoId) inner.values_.emplace(var, wrap(given[i]));
  }
  stack->resize(stack->size() - arguments.size());
  const Observing observing(inner);
  for (const std::int32_t index : inside->recording.calls) inner.replay(index);
  auto output = inside->recording.outputs.begin();
  for (const int size : inside->list_sizes) {
    c10::List<at::Tensor> list;
    for (int i = 0; i < (size < 0 ? 1 : size); ++i)
      list.push_back(inner.tensor_of((output++)->var));
    stack->emplace_back(size < 0 ? c10::IValue(list.get(0)) : c10::IValue(list));
  }
  return true;
}

ir::ValueId Purifier::final_value(const at::Tensor& tensor) {
  return builder_.value_of(unwrap(tensor));
}

ir::ValueId Purifier::final_value(const StateSlot& slot) {
  if (slot.after != kNoId) return final_value(tensor_of(slot.after));
  if (slot.same_as) return final_value(slot_inputs_[*slot.same_as]);
  return slot.constant.defined() ? builder_.value_of(slot.constant) : ir::kNoValue;
}

Purified Purifier::run(const std::vector<at::Tensor>& examples) {
  const at::NoGradGuard no_grad;
  const c10::InferenceMode not_inference(false);
  Purified done;
  for (std::size_t i = 0; i < recording_.inputs.size(); ++i) {
    bind(recording_.inputs[i].var, recording_.inputs[i].name, examples.at(i));
  }
  for (const StateSlot& slot : slots_) {
    bind(slot);
    done.before.push_back(builder_.graph().inputs().back());
  }
  {
    const Observing observing(*this);
    const Functionalising functionalising;
    for (const std::int32_t index : recording_.calls) {
      replay(index);
    }
    // Updating a view after a write runs additional operators.
    for (const Recording::Port& port : recording_.outputs) {
      done.outputs.push_back(final_value(tensor_of(port.var)));
    }
    for (const StateSlot& slot : slots_) done.after.push_back(final_value(slot));
  }
  // Constants are values of the graph, so they are created before the graph is returned.
  for (const Recording::Constant& constant : recording_.static_outputs) {
    done.outputs.push_back(builder_.value_of(constant.value));
  }
  done.graph = std::move(builder_.graph());
  done.opened = std::move(opened_);
  return done;
}

// Returns whether running on shapes alone is sufficient. A custom operator may use its values in
// any way, and the meaning of as_strided() depends on strides, which may differ in a shape run.
bool shapes_may_do(const Recording& recording) {
  return std::all_of(recording.calls.begin(), recording.calls.end(), [&](std::int32_t index) {
    const Call& call = recording.tape->call(index);
    return is_aten(call.op) && call.op.schema().name() != "aten::as_strided";
  });
}

Purified purify(const Recording& recording, const std::vector<StateSlot>& slots,
                const std::vector<at::Tensor>& examples, const PurifyOptions& options,
                RunFor run_for) {
  GraphBuilder builder(options.name, run_for);
  std::vector<Purified::Opened> opened;
  return Purifier(recording, slots, options, builder, opened).run(examples);
}

}  // namespace

Purified purify(const Recording& recording, const std::vector<StateSlot>& slots,
                const std::vector<at::Tensor>& examples, const PurifyOptions& options) {
  if (shapes_may_do(recording)) {
    try {
      return purify(recording, slots, examples, options, RunFor::kShapes);
    } catch (const std::exception&) {
      // An operator may reject a placeholder, so values are computed.
    }
  }
  return purify(recording, slots, examples, options, RunFor::kValues);
}

}  // namespace leapp::trace
