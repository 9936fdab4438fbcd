#include "session/recorder.h"

#include <ATen/ops/clone.h>

#include <algorithm>

#include "session/between_nodes.h"
#include "session/draws.h"
#include "session/front_end_interface.h"
#include "session/index_views.h"
#include "session/passes.h"
#include "session/seen_call.h"
#include "session/session_lock.h"
#include "trace/sizes.h"

namespace leapp::session {
namespace {

// A call whose operator has not returned yet.
struct PendingCall : SeenCall {
  std::shared_ptr<trace::Tape> tape = {};  // null if no recorded pass is under way
  c10::SmallVector<trace::Arg, 8> noted = {};
  std::vector<VarId> written = {};
  std::vector<at::Tensor> written_tensors = {};
  NodeId node = kNoId;
  bool random = false;
  TagRef tag = {};  // tag of the first argument that came from a node
  std::shared_ptr<const BetweenCall> replayable = {};
  std::vector<std::pair<at::Tensor, TagRef>> partly_written = {};
  std::optional<trace::SizeQuestion> sizes = {};
  at::Tensor copied = {};                // the tensor of which the results are copies
  std::vector<at::Tensor> targets = {};  // what a draw filled, and the values that it recorded
  std::vector<at::Tensor> values = {};
};

VarId note_argument(SessionData& data, PendingCall& call, const at::Tensor& tensor,
                    bool overwritten) {
  const auto known = data.tape->find(tensor);
  const VarId var = known ? *known : data.tape->add_outside(tensor);
  const NodeId node = data.tape->variable(var).node;
  if (node == kNoId) {
    const auto tag = data.tags.find(tensor);
    if (tag && !call.tag && !overwritten) call.tag = tag;
    // On a tape that several nodes share, the results of a closed node count as external.
    const std::int32_t maker = data.tape->variable(var).call;
    const bool outside = !known || (maker >= 0 && data.tape->call(maker).node != kNoId);
    if (tag && outside)
      data.tape.baked.insert({var, {var, call.frame, "", {tag->node, tag->port}}});
    return var;
  }
  if (call.node == kNoId) call.node = node;
  if (call.node != node) {
    refuse(Code::kMixedNodes,
           "Mixing active contexts is not allowed: one operation reads tensors of node '" +
               data.nodes.at(call.node).name + "' and of node '" + data.nodes.at(node).name +
               "'. Close one of them with annotate.output_tensors() first, and pass its output to "
               "the other through annotate.input_tensors().");
  }
  return var;
}

void note_arguments(SessionData& data, PendingCall& call) {
  call.noted.resize(call.traits.writes.size());
  for (std::size_t i = 0; i < call.noted.size(); ++i) {
    const c10::IValue& value = call.arguments()[i];
    call.noted[i] = data.tape->argument_of(value, [&](const at::Tensor& tensor) {
      // A Python number that PyTorch passes as a tensor.
      if (value.isTensor() && tensor.unsafeGetTensorImpl()->is_wrapped_number()) return kNoId;
      const VarId var = note_argument(data, call, tensor, call.traits.overwrites[i]);
      if (call.traits.writes[i]) {
        call.written.push_back(var);
        call.written_tensors.push_back(tensor);
      }
      return var;
    });
  }
}

// Returns whether the variable's value depends on random numbers.
bool was_drawn(const SessionData& data, VarId var) {
  return !data.tape.baked.empty() && trace::depends_on(*data.tape, var, [&](VarId id) {
    const auto it = data.tape.baked.find(id);
    return it != data.tape.baked.end() && !it->second.random.empty();
  });
}

// Reports an operator that turns a traced value into a number or a branch.
void note_escapes(SessionData& data, const PendingCall& call) {
  const VarId var = call.noted.empty() ? kNoId : call.noted.front().var;
  if (call.traits.escape == trace::Escape::kNone || (call.node == kNoId && var == kNoId)) return;
  const std::string& name = call.op.schema().name();
  if (call.node == kNoId && was_drawn(data, var)) {
    data.messages.warn(
        Code::kRandomOutside, "",
        name +
            " converts random numbers to a Python number or a branch while a node is open. The "
            "numbers drawn now are exported as a constant. Use a deterministic policy for the "
            "export, or pass them through annotate.input_tensors().",
        call.frame);
  }
  const bool branch = call.traits.escape == trace::Escape::kBranch;
  note_escape(
      data, var, call.node, call.frame, branch ? Code::kBranch : Code::kNumber,
      name + (branch ? " converts a traced tensor to True or False. Only the branch taken now is "
                       "exported. Use torch.where() to keep the choice in the model."
                     : " converts a traced tensor to a number. Results computed from this number "
                       "are exported as constants. Keep it a tensor to keep it in the model."));
}

// Called before an operator while recorded passes are open.
void note_recorded(SessionData& data, PendingCall& call) {
  note_arguments(data, call);
  const c10::IValue* arguments = call.arguments().data();
  if (call.node != kNoId) check_thread(data.nodes.at(call.node));
  if (trace::writes_by_index(call.op)) {
    call.noted[2].var = trace::before_squeeze(*data.tape, arguments, call.noted[2].var);
  }
  if (call.node != kNoId && !call.traits.mutates &&
      (data.sizes_vary || call.traits.size_depends_on_values)) {
    call.sizes = trace::ask_sizes(*data.tape, call.op, arguments, [&](const at::Tensor& tensor) {
      return data.memory.find_writer(tensor) != nullptr;
    });
  }
  note_escapes(data, call);
  call.random = call.traits.is_random(call.stack);
}

// Called before an operator while no recorded pass is open.
void note_outside_nodes(SessionData& data, PendingCall& call) {
  for (std::size_t i = 0; i < call.arguments().size(); ++i) {
    trace::for_each_tensor(call.arguments()[i], [&](const at::Tensor& tensor) {
      if (!call.tag && !call.traits.overwrites[i]) call.tag = data.tags.find_inside(tensor);
      if (call.traits.writes[i]) call.written_tensors.push_back(tensor);
    });
  }
  const bool decides = call.traits.escape == trace::Escape::kBranch;
  if (decides && call.tag && !call.tag->port.empty()) {
    data.branches.emplace(call.tag->node, call.detour());
  }
}

bool fills_memory(const at::Tensor& tensor) {
  return tensor.has_storage() && tensor.is_non_overlapping_and_dense() &&
         tensor.nbytes() == tensor.storage().nbytes();
}

// Returns whether the last call that used the memory filled it with random numbers.
bool was_filled_last(const trace::Tape& tape, trace::StoreId store, VarId drawn) {
  for (std::int32_t index = tape.call_count() - 1; index >= 0; --index) {
    bool touches = false;
    bool fills = false;
    trace::for_each_site(tape, index, [&](const trace::Site&, VarId var) {
      fills |= var == drawn;
      touches |= var != kNoId && tape.variable(var).store == store;
    });
    if (touches) return fills;
  }
  return false;
}

// Drops random numbers that are overwritten before anything reads them, such as the initial weights
// of a layer that loads its trained weights next. The call overwrites its tensors completely;
// tensors that are only a part of their memory do not count.
void forget_overwritten_draws(SessionData& data, const PendingCall& call) {
  for (const at::Tensor& tensor : call.written_tensors) {
    const auto var = fills_memory(tensor) ? data.tape->find(tensor) : std::nullopt;
    const trace::StoreId store = var ? data.tape->variable(*var).store : kNoId;
    if (store == kNoId) continue;
    std::erase_if(data.tape.baked, [&](const auto& each) {
      return !each.second.random.empty() && was_filled_last(*data.tape, store, each.first);
    });
  }
}

// Records random numbers that no traced value influences as external values.
void record_draw(SessionData& data, const PendingCall& call) {
  const auto add = [&](const at::Tensor& drawn) {
    const VarId var = data.tape->add_outside(drawn, true);
    data.tape.baked.insert({var, {var, call.frame, call.op.schema().name(), {}}});
    return var;
  };
  if (!call.traits.mutates) {
    trace::for_each_tensor(call.results(), add);
    return;
  }
  for (const at::Tensor& tensor : call.written_tensors) {
    data.tape->mirror(add(at::clone(tensor)), tensor, call.frame);
  }
}

// Records that what a call drew has the values of the recorded arithmetic.
void record_noise(SessionData& data, const PendingCall& call) {
  static const auto clone = c10::Dispatcher::singleton().findSchemaOrThrow("aten::clone", "");
  trace::Tape& tape = *data.tape;
  for (std::size_t i = 0; i < call.values.size(); ++i) {
    const at::Tensor& target = call.targets[i];
    const VarId value = tape.use(call.values[i]);
    const auto is_target = [&](const at::Tensor& written) { return written.is_same(target); };
    if (std::ranges::any_of(call.written_tensors, is_target)) {
      tape.mirror(value, target, call.frame);
      continue;
    }
    tape.begin_call(clone, call.frame, tape.variable(value).node);
    tape.add_tensor(value);
    tape.add_value(c10::IValue());
    tape.add_result(target);
  }
}

// Called after an operator while recorded passes are open.
void record_call(SessionData& data, PendingCall& call) {
  if (!call.traits.returns_tensors && !call.traits.mutates) return;
  if (call.traits.uninitialized) {
    // torch.tensor([..]) and others allocate memory with this operator and fill it without an
    // operator.
    trace::for_each_tensor(call.results(), [&](const at::Tensor& made) {
      data.tape->add_outside(made, true, call.frame);
    });
    return;
  }
  if (!data.tape.baked.empty() && (call.traits.writes == call.traits.overwrites || call.random)) {
    forget_overwritten_draws(data, call);
  }
  if (!call.values.empty()) {
    record_noise(data, call);
    return;
  }
  if (call.random && call.node == kNoId) {
    record_draw(data, call);
    return;
  }
  trace::Tape& tape = *data.tape;
  const VarId lengths = call.traits.counts_lengths ? call.noted[1].var : kNoId;
  tape.append(call.op, call.frame, call.node, call.noted, call.written, call.results());
  if (lengths != kNoId && call.results()[1].isTensor()) {
    // The number of sequences at each step depends only on their lengths.
    tape.variable(*tape.find(call.results()[1].toTensor())).node = tape.variable(lengths).node;
  }
  if (call.sizes) data.sizes_vary = call.sizes->note(tape) || data.sizes_vary;
}

void before_call(SessionData& data, PendingCall& call) {
  call.tape = data.tape.share();
  if (call.tape) {
    note_recorded(data, call);
  } else {
    note_outside_nodes(data, call);
  }
  if (call.node == kNoId && call.tag && call.tag->has_route()) {
    call.replayable = copy_if_replayable(data, call);
  }
  for (const at::Tensor& tensor : call.written_tensors) {
    data.captures.before_write(tensor);
    for (auto& left : data.tags.forget_memory(tensor)) {
      call.partly_written.push_back(std::move(left));
    }
  }
}

// Tags the whole tensor after a copy to a view of it, as in obs[:, 3:6] = velocity.
void note_copy_to_part(SessionData& data, const PendingCall& call) {
  if (!call.tag || call.tag->port.empty() || !call.traits.only_copies) return;
  for (const at::Tensor& part : call.written_tensors) {
    if (!part.is_view()) continue;
    const at::Tensor whole(part._base());
    if (whole.numel() > part.numel()) {
      data.tags.set_detour(*call.tag, whole, call.detour(), nullptr, 0);
    }
  }
}

void after_call(SessionData& data, PendingCall& call) {
  if (call.node == kNoId) {
    for (const auto& [tensor, tag] : call.partly_written) {
      data.tags.set_detour(*tag, tensor, call.detour(), nullptr, 0);
    }
    note_copy_to_part(data, call);
    if (call.tag) propagate_tag(data.tags, call, call.tag, call.replayable);
  }
  if (call.tape) {
    // Another thread may have ended the pass while the operator ran.
    if (call.tape == data.tape.share()) record_call(data, call);
  } else if (data.active && call.traits.returns_tensors && !call.traits.mutates &&
             !call.traits.aliases) {
    trace::for_each_tensor(call.results(), [&](const at::Tensor& tensor) {
      data.memory.add_creation(tensor, call.copied, data.recorded_passes);
    });
  }
}

}  // namespace

void Recorder::on_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                       torch::jit::Stack* stack) {
  if (!session_.active()) {
    trace::set_observer(nullptr);  // the session ended on another thread
    op.callBoxed(stack);
    return;
  }
  const trace::OpTraits& own_traits = trace::traits_of(op);
  own_traits.type_lists(op, stack);
  const trace::UndeclaredWrite hidden = own_traits.undeclared_write(*stack);
  // The casts of autocast reach the recorder as operators, and so do the parts of a composite
  // operator.
  if (keys.has_any(c10::autocast_dispatch_keyset) || hidden == trace::UndeclaredWrite::kInside) {
    trace::redispatch_below(op, keys, stack);
    return;
  }
  const Activity& activity = session_.activity();
  if (activity.records.load(std::memory_order_relaxed) && own_traits.is_random(*stack) &&
      draws_in_parts(session_, op)) {
    trace::redispatch_below(op, keys, stack);
    return;
  }
  if (activity.has_index_views.load(std::memory_order_relaxed)) {
    std::vector<const c10::StorageImpl*> touched;
    const auto arguments = SeenCall{own_traits, op, *stack}.arguments();
    trace::for_each_tensor(arguments, [&](const at::Tensor& tensor) {
      if (tensor.has_storage()) touched.push_back(trace::memory_of(tensor));
    });
    synchronize_index_views(session_, &touched);
  }
  // Runs the operator itself, but records the variant that declares all its writes.
  const bool swaps = hidden == trace::UndeclaredWrite::kItself;
  const c10::OperatorHandle& noted = swaps ? trace::batch_norm_that_declares_its_write() : op;
  const trace::OpTraits& traits = swaps ? trace::traits_of(noted) : own_traits;
  std::optional<trace::Unobserved> guard(std::in_place);
  if (traits.only_metadata) {
    op.callBoxed(stack);
    return;
  }
  PendingCall call{{traits, noted, *stack}};
  if (traits.only_copies && call.arguments().front().isTensor()) {
    call.copied = call.arguments().front().toTensor();
  }
  const bool concerns_session = activity.records.load(std::memory_order_relaxed) ||
                                traits.mutates || activity.has_tags.load(std::memory_order_relaxed);
  if (concerns_session) {
    call.frame = trace::capture_source();
    try {
      locked(session_, call.frame, [&](SessionData& data) { before_call(data, call); });
    } catch (const Error& error) {
      if (FrontEnd* const front_end = session_.front_end()) front_end->rethrow(error);
      throw;
    }
  }
  torch::jit::Stack drawn_with;
  if (call.random) drawn_with.assign(call.arguments().begin(), call.arguments().end());
  op.callBoxed(stack);
  if (call.sizes) call.sizes->answer(op, *stack);
  if (call.random) {
    guard.reset();
    Draw draw(op.schema(), std::move(drawn_with), call.results());
    call.values = record_as_noise(session_, draw, call.node);
    call.targets = std::move(draw.targets);
  }
  const SessionLock data(session_);
  after_call(*data, call);
}

}  // namespace leapp::session
