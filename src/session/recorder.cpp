// Session's half that sees operators.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/clone.h>

#include <algorithm>

#include "base/check.h"
#include "interop/convert.h"
#include "session/hooks.h"
#include "session/session.h"
#include "session/session_lock.h"
#include "session/sizes.h"

namespace leapp::session {
namespace {

constexpr c10::DispatchKeySet kAutocast = c10::autocast_dispatch_keyset;

const c10::OperatorHandle& copy_op() {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "");
  return op;
}

// Operators that only move elements, in order, to a tensor of the same shape and type.
bool only_copies(const c10::OperatorHandle& op) {
  static const std::set<std::string> names = {
      "aten::clone",       "aten::detach",      "aten::contiguous",  "aten::to",
      "aten::_to_copy",    "aten::copy_",       "aten::alias",       "aten::cpu",
      "aten::cuda",        "aten::view_as",     "aten::reshape",     "aten::lift_fresh",
      "aten::expand_as",   "aten::view",        "aten::squeeze",     "aten::flatten",
      "aten::unsqueeze",   "aten::expand",      "aten::detach_copy", "aten::type_as",
      "aten::resolve_neg", "aten::resolve_conj"};
  return names.count(op.schema().name()) > 0;
}

template <typename Visit>
void for_each_tensor(const c10::IValue& value, Visit&& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor());
  } else if (value.isTensorList() || value.isOptionalTensorList()) {
    for (const c10::IValue& item : value.toListRef()) {
      if (item.isTensor() && item.toTensor().defined()) visit(item.toTensor());
    }
  }
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
  std::optional<SizeQuestion> sizes;
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
    std::vector<const c10::StorageImpl*> touched;
    for (std::size_t i = 0; i < own_traits.writes.size(); ++i) {
      for_each_tensor(stack->at(stack->size() - own_traits.writes.size() + i),
                      [&](const at::Tensor& tensor) {
                        if (!tensor.has_storage()) return;
                        touched.push_back(tensor.storage().unsafeGetStorageImpl());
                      });
    }
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
    auto tag = tags_.find(tensor);
    if (tag && !pending.tag) pending.tag = tag;
    // On a tape that nodes share, a closed node's results are as much from outside as other
    // tensors.
    const std::int32_t maker = tape_->variable(var).call;
    const bool outside =
        !known || (maker >= 0 && tape_->calls()[static_cast<std::size_t>(maker)].node != kNobody);
    if (tag && outside) outsiders_.insert({var, {std::move(tag), false, frame, ""}});
  }
  if (node == kNobody) return var;
  if (pending.node == kNobody) pending.node = node;
  if (pending.node != node) {
    const Node& one = nodes_[static_cast<std::size_t>(pending.node)];
    const Node& other = nodes_[static_cast<std::size_t>(node)];
    throw PlacedError{
        ErrorKind::kUsage,
        "Mixing active contexts is not allowed: one operation reads tensors of node '" + one.name +
            "' and of node '" + other.name +
            "'. Close one of them with annotate.output_tensors() first, and pass its output to the "
            "other through annotate.input_tensors().",
        frame};
  }
  return var;
}

// Whether random numbers decide the variable's value.
bool Session::was_drawn(VarId var) const {
  const auto is_random = [&](VarId id) {
    const auto it = outsiders_.find(id);
    return it != outsiders_.end() && it->second.random;
  };
  return trace::depends_on(*tape_, var, is_random);
}

void Session::before_recorded_call(const trace::OpTraits& traits, const c10::OperatorHandle& op,
                                   const torch::jit::Stack& stack, trace::FrameRef frame,
                                   PendingCall& pending) {
  const std::size_t count = traits.writes.size();
  const c10::IValue* args = stack.data() + (stack.size() - count);
  pending.arguments.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
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
      if (traits.writes[i]) {
        pending.written.push_back(argument.var);
        pending.written_tensors.push_back(tensor);
      }
    } else if (value.isTensorList() || value.isOptionalTensorList()) {
      argument.kind = PendingCall::Argument::Kind::kList;
      for (const c10::IValue& item : value.toListRef()) {
        const bool there = item.isTensor() && item.toTensor().defined();
        argument.list.push_back(there ? note_argument(item.toTensor(), frame, pending) : kNobody);
        if (there && traits.writes[i]) {
          pending.written.push_back(argument.list.back());
          pending.written_tensors.push_back(item.toTensor());
        }
      }
    } else {
      argument.value = value;
    }
  }
  if (pending.node != kNobody) {
    check_thread(nodes_[static_cast<std::size_t>(pending.node)]);
    if (traits.escape != trace::Escape::kNone) {
      nodes_[static_cast<std::size_t>(pending.node)].read_values = true;
      queue_once(LogLevel::kWarning, escape_text(op.schema().name(), traits.escape), frame);
    }
  }
  if (writes_by_index(op)) {
    PendingCall::Argument& values = pending.arguments[2];
    values.var = before_lost_ones(*tape_, args, values.var);
  }
  if (pending.node != kNobody && !traits.mutates &&
      (sizes_vary_ || traits.size_depends_on_values)) {
    pending.sizes = ask_sizes(
        *tape_, op, args, [&](const at::Tensor& tensor) { return writer_of(tensor) != nullptr; });
  }
  if (pending.node == kNobody && traits.escape != trace::Escape::kNone && !outsiders_.empty() &&
      pending.arguments.front().var != kNobody && was_drawn(pending.arguments.front().var)) {
    queue_once(
        LogLevel::kWarning,
        op.schema().name() +
            " turns random numbers into a number or a choice of branch while a node is open: "
            "what was drawn now is exported as a constant. Use a deterministic policy for "
            "export, or pass the draw through annotate.input_tensors().",
        frame);
  }
  if (pending.node == kNobody && traits.escape != trace::Escape::kNone &&
      pending.arguments.front().var != kNobody) {
    escapes_.push_back({pending.arguments.front().var, frame,
                        escape_text(op.schema().name(), traits.escape),
                        static_cast<std::int32_t>(tape_->calls().size())});
  }
  pending.random = traits.is_random(stack);
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
  if (pending.node == kNobody) propagate_tags(op, traits, pending.tag, stack, frame);
  if (!traits.returns_tensors && !traits.mutates) return;

  if (traits.uninitialized) {
    // torch.tensor([..]) and its kin ask for memory here and fill it without an operator.
    for (std::size_t i = 0; i < returns; ++i) {
      for_each_tensor(results[i], [&](const at::Tensor& made) { tape_->add_outside(made, true); });
    }
    return;
  }
  if (pending.random && pending.node == kNobody) {
    // Nothing traced decides what was drawn: the numbers are as good as written in the program.
    if (traits.mutates) {
      for (std::size_t i = 0; i < pending.written.size(); ++i) {
        const at::Tensor drawn = at::clone(pending.written_tensors[i]);
        const VarId fixed = tape_->add_outside(drawn, true);
        outsiders_.insert({fixed, {std::nullopt, true, frame, op.schema().name()}});
        tape_->begin_call(copy_op(), frame, kNobody);
        tape_->add_tensor(pending.written[i]);
        tape_->add_tensor(fixed);
        tape_->add_value(false);
        tape_->add_result(pending.written_tensors[i]);
        tape_->note_write(pending.written[i], kNobody);
      }
      return;
    }
    for (std::size_t i = 0; i < returns; ++i) {
      for_each_tensor(results[i], [&](const at::Tensor& tensor) {
        outsiders_.insert(
            {tape_->add_outside(tensor, true), {std::nullopt, true, frame, op.schema().name()}});
      });
    }
    return;
  }
  if (pending.random) {
    queue_once(LogLevel::kWarning,
               op.schema().name() + " draws random numbers inside node '" +
                   nodes_[static_cast<std::size_t>(pending.node)].name +
                   "': the exported model draws its own, so its outputs will differ from those "
                   "traced. Use eval() or a deterministic policy for export.",
               frame);
    nodes_[static_cast<std::size_t>(pending.node)].random = true;
  }

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
  for (std::size_t i = 0; i < returns; ++i) {
    if (results[i].isTensor()) {
      tape_->add_result(results[i].toTensor());
    } else if (results[i].isTensorList()) {
      tape_->add_result_list(results[i].toTensorVector());
    } else {
      tape_->add_other_result();
    }
    if (traits.aliases) continue;
    for_each_tensor(results[i], [&](const at::Tensor& tensor) {
      const VarId var = *tape_->find(tensor);
      const auto store = tape_->variable(var).store;
      if (store == kNobody) return;
      for (const PendingCall::Argument& argument : pending.arguments) {
        const auto same = [&](VarId id) {
          return id != kNobody && tape_->variable(id).store == store;
        };
        shares |= same(argument.var);
        for (const VarId id : argument.list) shares |= same(id);
      }
    });
  }
  tape_->calls()[index].hidden_alias = shares;
  if (pending.sizes) sizes_vary_ = pending.sizes->note(*tape_) || sizes_vary_;
}

void Session::note_size(const at::Tensor& tensor) {
  if (!sizes_vary_) return;
  const trace::FrameRef frame = trace::capture_source();
  const Lock lock(*this);
  if (!tape_ || !tensor.defined() || trace::is_wrapped(tensor)) return;
  const auto var = tape_->find(tensor);
  if (!var || tape_->variable(*var).varying == 0) return;
  queue_once(LogLevel::kWarning, kSizeRead, frame);
}

void Session::note_made(const at::Tensor& tensor) {
  constexpr std::size_t kMany = 4096;
  const Lock lock(*this);
  if (!active() || !tensor.has_storage()) return;
  if (made_.size() >= kMany) {
    std::erase_if(made_, [](const auto& entry) { return entry.second.expired(); });
    if (made_.size() >= kMany) return;  // a program that keeps so much is not short of names
  }
  const c10::Storage& storage = tensor.storage();
  made_.insert_or_assign(storage.unsafeGetStorageImpl(), storage.getWeakStorageImpl());
}

void Session::run_outside_nodes(const trace::OpTraits& traits, const c10::OperatorHandle& op,
                                torch::jit::Stack* stack) {
  std::optional<Tag> tag;
  std::vector<std::pair<at::Tensor, Tag>> partly_written;
  if (traits.mutates || !tags_.empty()) {
    const Lock lock(*this);
    const std::size_t count = traits.writes.size();
    const c10::IValue* args = stack->data() + (stack->size() - count);
    for (std::size_t i = 0; i < count; ++i) {
      for_each_tensor(args[i], [&](const at::Tensor& tensor) {
        if (!tag && !traits.overwrites[i]) tag = tags_.find(tensor);
        if (!traits.writes[i]) return;
        captures_.before_write(tensor);
        for (auto& kept : tags_.forget_memory(tensor)) partly_written.push_back(std::move(kept));
      });
    }
  }
  op.callBoxed(stack);
  if (traits.returns_tensors && !traits.mutates && !traits.aliases) {
    for (std::size_t i = stack->size() - op.schema().returns().size(); i < stack->size(); ++i) {
      for_each_tensor(stack->at(i), [&](const at::Tensor& tensor) { note_made(tensor); });
    }
  }
  if (!tag && partly_written.empty()) return;
  const trace::FrameRef frame = trace::capture_source();
  const Lock lock(*this);
  for (const auto& [tensor, former] : partly_written) {
    tags_.propagate(former, tensor, false, {op.schema().name(), frame});
  }
  propagate_tags(op, traits, tag, *stack, frame);
}

void Session::propagate_tags(const c10::OperatorHandle& op, const trace::OpTraits& traits,
                             const std::optional<Tag>& tag, const torch::jit::Stack& stack,
                             trace::FrameRef frame) {
  if (!tag || !traits.returns_tensors) return;
  const bool moves = only_copies(op);
  const std::vector<NodePort>& ports = nodes_[static_cast<std::size_t>(tag->node)].outputs;
  const auto port = std::find_if(ports.begin(), ports.end(),
                                 [&](const NodePort& p) { return p.name == tag->port; });
  const std::size_t returns = op.schema().returns().size();
  for (std::size_t i = stack.size() - returns; i < stack.size(); ++i) {
    for_each_tensor(stack[i], [&](const at::Tensor& tensor) {
      // A view of the very same bytes keeps the tag it finds there.
      if (const auto there = tags_.find(tensor); there && there->exact()) return;
      const bool same_type =
          port != ports.end() && interop::to_scalar_type(port->dtype) == tensor.scalar_type();
      tags_.propagate(*tag, tensor, moves && same_type, {op.schema().name(), frame});
    });
  }
}

}  // namespace leapp::session
