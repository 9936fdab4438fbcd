// Session's half that sees operators.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/clone.h>

#include <algorithm>

#include "base/check.h"
#include "session/draws.h"
#include "session/hooks.h"
#include "session/session.h"
#include "session/session_internal.h"
#include "session/sizes.h"
#include "trace/inside.h"

namespace leapp::session {
namespace {

constexpr c10::DispatchKeySet kAutocast = c10::autocast_dispatch_keyset;

const c10::OperatorHandle& copy_op() {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "");
  return op;
}

// The memory that the last values of a stack are in.
std::vector<const c10::StorageImpl*> memory_in(const torch::jit::Stack& stack, std::size_t count) {
  std::vector<const c10::StorageImpl*> touched;
  for (std::size_t i = stack.size() - count; i < stack.size(); ++i) {
    for_each_tensor(stack[i], [&](const at::Tensor& tensor) {
      if (tensor.has_storage()) touched.push_back(trace::memory_of(tensor));
    });
  }
  return touched;
}

}  // namespace

// A call between the moment its arguments are known and the moment its results are.
struct Session::PendingCall {
  struct Argument {
    enum class Kind { kValue, kTensor, kList } kind = Kind::kValue;
    c10::IValue value;
    VarId var = kNobody;
    std::vector<VarId> list = {};
  };
  c10::SmallVector<Argument, 8> arguments;
  std::vector<VarId> written;
  std::vector<at::Tensor> written_tensors;
  NodeId node = kNobody;
  bool random = false;
  std::optional<Tag> tag;  // of the first argument that came from a node
  std::shared_ptr<const BetweenCall> kept;
  std::optional<SizeQuestion> sizes;

  void add_written(VarId var, const at::Tensor& tensor) {
    written.push_back(var);
    written_tensors.push_back(tensor);
  }
  bool reads_memory(const trace::Tape& tape, trace::StoreId store) const {
    if (store == kNobody) return false;
    const auto same = [&](VarId id) { return id != kNobody && tape.variable(id).store == store; };
    return std::any_of(arguments.begin(), arguments.end(), [&](const Argument& argument) {
      return same(argument.var) || std::any_of(argument.list.begin(), argument.list.end(), same);
    });
  }
};

void Session::on_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                      torch::jit::Stack* stack) {
  if (!active()) {
    trace::set_observer(nullptr);  // the session ended while this thread was elsewhere
    op.callBoxed(stack);
    return;
  }
  if (keys.has_any(kAutocast)) {
    trace::step_aside(op, keys, stack);  // its casts come back as operators of their own
    return;
  }
  const trace::OpTraits& own_traits = trace::traits_of(op);
  const trace::HiddenWrite hidden = own_traits.hidden_write(*stack);
  if (hidden == trace::HiddenWrite::kInside) {
    trace::step_aside(op, keys, stack);
    return;
  }
  if (picking_.load(std::memory_order_relaxed)) {
    const auto touched = memory_in(*stack, own_traits.writes.size());
    settle_picks([&] { return picks_.next(*tape_, touched); });
  }
  // What runs is the operator itself; what is noted is one that says all it does.
  const bool swaps = hidden == trace::HiddenWrite::kItself;
  const c10::OperatorHandle& noted = swaps ? trace::honest_batch_norm() : op;
  const trace::OpTraits& traits = swaps ? trace::traits_of(noted) : own_traits;
  const trace::Unobserved guard;
  if (traits.only_metadata) {
    op.callBoxed(stack);
    return;
  }
  if (recording_.load(std::memory_order_relaxed) == 0) {
    run_outside_nodes(traits, op, stack);
    return;
  }
  const trace::FrameRef frame = trace::capture_source();
  PendingCall pending;
  try {
    placed([&] {
      const Lock lock(*this);
      if (tape_) before_recorded_call(traits, noted, *stack, frame, pending);
    });
  } catch (const Error& error) {
    if (hooks().rethrow) hooks().rethrow(error);
    throw;
  }
  op.callBoxed(stack);
  if (pending.sizes) pending.sizes->answer(op, *stack);
  {
    const Lock lock(*this);
    if (tape_) after_recorded_call(traits, noted, *stack, frame, pending);
  }
}

at::Tensor Session::pick(const at::Tensor& of, const std::vector<std::int64_t>& places,
                         const std::vector<at::Tensor>& numbers) {
  at::Tensor copy = take(of, places, numbers);
  const Lock lock(*this);
  if (tape_ && recording_ > 0 && tape_->find(copy) && of.has_storage()) {
    picks_.add(*tape_, {copy, of, places, numbers});
    picking_ = true;
  }
  return copy;
}

void Session::put_back(const at::Tensor& copy, const at::Tensor& of,
                       const std::vector<at::Tensor>& numbers) {
  const Lock lock(*this);
  Picks::Pick* pick = picks_.find(copy, of, numbers);
  if (pick != nullptr) Picks::agree(*tape_, *pick);
}

template <typename Next>
void Session::settle_picks(Next&& next) {
  thread_local bool settling = false;  // these operators come here as well
  if (settling) return;
  settling = true;
  try {
    for (;;) {
      std::optional<Picks::Step> step;
      {
        const Lock lock(*this);
        if (tape_) step = next();
        if (picks_.empty()) picking_ = false;
      }
      if (!step) break;
      step->take();
      const Lock lock(*this);
      Picks::agree(*tape_, *step->pick);
    }
  } catch (...) {
    settling = false;
    throw;
  }
  settling = false;
}

void Session::settle_picks() {
  if (picking_) settle_picks([&] { return picks_.next(*tape_); });
}

VarId Session::note_argument(const at::Tensor& tensor, trace::FrameRef frame,
                             PendingCall& pending) {
  const auto known = tape_->find(tensor);
  const VarId var = known ? *known : tape_->add_outside(tensor);
  const NodeId node = tape_->variable(var).node;
  if (!known || node == kNobody) {
    const auto tag = tags_.find(tensor);
    if (tag && !pending.tag) pending.tag = tag;
    // On a tape that nodes share, a closed node's results are as much from outside as other
    // tensors.
    const std::int32_t maker = tape_->variable(var).call;
    const bool outside =
        !known || (maker >= 0 && tape_->calls()[static_cast<std::size_t>(maker)].node != kNobody);
    if (tag && outside) baked_.insert({var, {var, frame, "", {tag->node, tag->port}}});
  }
  if (node == kNobody) return var;
  if (pending.node == kNobody) pending.node = node;
  if (pending.node != node) {
    throw PlacedError{
        Code::kMixedNodes,
        "Mixing active contexts is not allowed: one operation reads tensors of node '" +
            node_at(pending.node).name + "' and of node '" + node_at(node).name +
            "'. Close one of them with annotate.output_tensors() first, and pass its output to the "
            "other through annotate.input_tensors().",
        frame};
  }
  return var;
}

// Whether random numbers decide the variable's value.
bool Session::was_drawn(VarId var) const {
  return !baked_.empty() && trace::depends_on(*tape_, var, [&](VarId id) {
    const auto it = baked_.find(id);
    return it != baked_.end() && !it->second.random.empty();
  });
}

void Session::note_arguments(const trace::OpTraits& traits, const c10::IValue* args,
                             trace::FrameRef frame, PendingCall& pending) {
  pending.arguments.resize(traits.writes.size());
  for (std::size_t i = 0; i < traits.writes.size(); ++i) {
    const c10::IValue& value = args[i];
    PendingCall::Argument& argument = pending.arguments[i];
    if (value.isTensor()) {
      const at::Tensor& tensor = value.toTensor();
      // Numbers in a tensor's clothes, and tensors without memory, are plain values.
      if (!tensor.defined() || tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
        argument.value = value;
        continue;
      }
      argument.kind = PendingCall::Argument::Kind::kTensor;
      const bool had_tag = pending.tag.has_value();
      argument.var = note_argument(tensor, frame, pending);
      if (traits.overwrites[i] && !had_tag) pending.tag.reset();
      if (traits.writes[i]) pending.add_written(argument.var, tensor);
    } else if (value.isTensorList() || value.isOptionalTensorList()) {
      argument.kind = PendingCall::Argument::Kind::kList;
      for (const c10::IValue& item : value.toListRef()) {
        const bool there = item.isTensor() && item.toTensor().defined();
        argument.list.push_back(there ? note_argument(item.toTensor(), frame, pending) : kNobody);
        if (there && traits.writes[i]) pending.add_written(argument.list.back(), item.toTensor());
      }
    } else {
      argument.value = value;
    }
  }
}

// A value that the operator turns into a number or a choice.
void Session::note_escapes(const trace::OpTraits& traits, const c10::OperatorHandle& op,
                           trace::FrameRef frame, const PendingCall& pending) {
  if (traits.escape == trace::Escape::kNone) return;
  const std::string& name = op.schema().name();
  const Code code = escape_code(traits.escape);
  if (pending.node != kNobody) {
    node_at(pending.node).read_values = true;
    warn(code, node_at(pending.node).name, escape_text(name, traits.escape), frame);
    return;
  }
  const VarId var = pending.arguments.front().var;
  if (var == kNobody) return;
  if (was_drawn(var)) {
    warn(Code::kRandomOutside, "",
         name +
             " turns random numbers into a number or a choice of branch while a node is open: "
             "what was drawn now is exported as a constant. Use a deterministic policy for "
             "export, or pass the draw through annotate.input_tensors().",
         frame);
  }
  escapes_.push_back({{var, frame, code, escape_text(name, traits.escape)},
                      static_cast<std::int32_t>(tape_->calls().size())});
}

void Session::before_recorded_call(const trace::OpTraits& traits, const c10::OperatorHandle& op,
                                   const torch::jit::Stack& stack, trace::FrameRef frame,
                                   PendingCall& pending) {
  const c10::IValue* args = stack.data() + (stack.size() - traits.writes.size());
  note_arguments(traits, args, frame, pending);
  if (pending.node != kNobody) check_thread(node_at(pending.node));
  if (writes_by_index(op)) {
    PendingCall::Argument& values = pending.arguments[2];
    values.var = before_squeeze(*tape_, args, values.var);
  }
  if (pending.node != kNobody && !traits.mutates &&
      (sizes_vary_ || traits.size_depends_on_values)) {
    pending.sizes = ask_sizes(
        *tape_, op, args, [&](const at::Tensor& tensor) { return writer_of(tensor) != nullptr; });
  }
  note_escapes(traits, op, frame, pending);
  pending.random = traits.is_random(stack);
  if (pending.node == kNobody && pending.tag) pending.kept = keep_call(traits, op, stack, frame);
  for (const at::Tensor& tensor : pending.written_tensors) {
    captures_.before_write(tensor);
    tags_.forget_memory(tensor);
  }
}

void Session::after_recorded_call(const trace::OpTraits& traits, const c10::OperatorHandle& op,
                                  const torch::jit::Stack& stack, trace::FrameRef frame,
                                  PendingCall& pending) {
  const std::size_t returns = op.schema().returns().size();
  const c10::IValue* results = stack.data() + (stack.size() - returns);
  if (pending.node == kNobody) {
    propagate_tags(op, traits, pending.tag, stack, frame, pending.kept);
  }
  if (!traits.returns_tensors && !traits.mutates) return;
  if (traits.uninitialized) {
    // torch.tensor([..]) and its kin ask for memory here and fill it without an operator.
    for (std::size_t i = 0; i < returns; ++i) {
      for_each_tensor(results[i], [&](const at::Tensor& made) { tape_->add_outside(made, true); });
    }
    return;
  }
  if (!baked_.empty() && (traits.writes == traits.overwrites || pending.random)) {
    forget_overwritten_draws(baked_, *tape_, pending.written_tensors);
  }
  if (pending.random && pending.node == kNobody) {
    record_draw(traits, op, results, frame, pending);
    return;
  }
  append_call(traits, op, results, frame, pending);
  if (pending.sizes) sizes_vary_ = pending.sizes->note(*tape_) || sizes_vary_;
}

// Nothing traced decides what was drawn: the numbers are as good as written in the program.
void Session::record_draw(const trace::OpTraits& traits, const c10::OperatorHandle& op,
                          const c10::IValue* results, trace::FrameRef frame,
                          const PendingCall& pending) {
  const auto add = [&](const at::Tensor& drawn) {
    const VarId var = tape_->add_outside(drawn, true);
    baked_.insert({var, {var, frame, op.schema().name(), {}}});
    return var;
  };
  if (!traits.mutates) {
    for (std::size_t i = 0; i < op.schema().returns().size(); ++i) {
      for_each_tensor(results[i], add);
    }
    return;
  }
  for (std::size_t i = 0; i < pending.written.size(); ++i) {
    const VarId fixed = add(at::clone(pending.written_tensors[i]));
    tape_->begin_call(copy_op(), frame, kNobody);
    tape_->add_tensor(pending.written[i]);
    tape_->add_tensor(fixed);
    tape_->add_value(false);
    tape_->add_result(pending.written_tensors[i]);
    tape_->note_write(pending.written[i], kNobody);
  }
}

void Session::append_call(const trace::OpTraits& traits, const c10::OperatorHandle& op,
                          const c10::IValue* results, trace::FrameRef frame,
                          const PendingCall& pending) {
  tape_->begin_call(op, frame, pending.node);
  for (const PendingCall::Argument& argument : pending.arguments) {
    switch (argument.kind) {
      case PendingCall::Argument::Kind::kValue:
        tape_->add_value(argument.value);
        break;
      case PendingCall::Argument::Kind::kTensor:
        tape_->add_tensor(argument.var);
        break;
      case PendingCall::Argument::Kind::kList:
        tape_->add_tensor_list(argument.list);
        break;
    }
  }
  const std::size_t index = tape_->calls().size() - 1;
  for (const VarId var : pending.written) tape_->note_write(var, pending.node);
  bool shares = false;
  for (std::size_t i = 0; i < op.schema().returns().size(); ++i) {
    tape_->add_result(results[i]);
    if (traits.aliases) continue;
    for_each_tensor(results[i], [&](const at::Tensor& tensor) {
      shares |= pending.reads_memory(*tape_, tape_->variable(*tape_->find(tensor)).store);
    });
  }
  tape_->calls()[index].hidden_alias = shares;
  if (traits.counts_lengths && results[1].isTensor()) {
    // How many sequences go on at each step follows from their lengths alone.
    const VarId lengths = pending.arguments[1].var;
    const VarId counts = *tape_->find(results[1].toTensor());
    tape_->variable(counts).node = tape_->variable(lengths).node;
  }
}

}  // namespace leapp::session
