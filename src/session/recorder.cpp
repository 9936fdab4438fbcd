// Session's half that sees operators.
#include <ATen/ops/clone.h>
#include <c10/util/ScopeExit.h>

#include <algorithm>

#include "session/hooks.h"
#include "session/live.h"
#include "trace/sizes.h"

namespace leapp::session {
namespace {

// A call between the moment its arguments are known and the moment its results are.
struct PendingCall : SeenCall {
  bool recorded = false;
  c10::SmallVector<trace::Arg, 8> noted = {};  // where it is recorded
  std::vector<VarId> written = {};
  std::vector<at::Tensor> written_tensors = {};
  NodeId node = kNoId;
  bool random = false;
  TagRef tag = {};  // of the first argument that came from a node
  std::shared_ptr<const BetweenCall> kept = {};
  std::vector<std::pair<at::Tensor, TagRef>> partly_written = {};
  std::optional<trace::SizeQuestion> sizes = {};
  at::Tensor copied = {};  // what the results are copies of
};

VarId note_argument(Live& live, PendingCall& call, const at::Tensor& tensor, bool overwritten) {
  const auto known = live.tape->find(tensor);
  const VarId var = known ? *known : live.tape->add_outside(tensor);
  const NodeId node = live.tape->variable(var).node;
  if (node == kNoId) {
    const auto tag = live.tags.find(tensor);
    if (tag && !call.tag && !overwritten) call.tag = tag;
    // On a tape that nodes share, a closed node's results are as much from outside as other
    // tensors.
    const std::int32_t maker = live.tape->variable(var).call;
    const bool outside = !known || (maker >= 0 && live.tape->call(maker).node != kNoId);
    if (tag && outside) live.baked.insert({var, {var, call.frame, "", {tag->node, tag->port}}});
    return var;
  }
  if (call.node == kNoId) call.node = node;
  if (call.node != node) {
    refuse(Code::kMixedNodes,
           "Mixing active contexts is not allowed: one operation reads tensors of node '" +
               live.at(call.node).name + "' and of node '" + live.at(node).name +
               "'. Close one of them with annotate.output_tensors() first, and pass its output to "
               "the other through annotate.input_tensors().");
  }
  return var;
}

void note_arguments(Live& live, PendingCall& call) {
  call.noted.resize(call.traits.writes.size());
  for (std::size_t i = 0; i < call.noted.size(); ++i) {
    const c10::IValue& value = call.arguments()[i];
    call.noted[i] = live.tape->argument_of(value, [&](const at::Tensor& tensor) {
      // A number in a tensor's clothes.
      if (value.isTensor() && tensor.unsafeGetTensorImpl()->is_wrapped_number()) return kNoId;
      const VarId var = note_argument(live, call, tensor, call.traits.overwrites[i]);
      if (call.traits.writes[i]) {
        call.written.push_back(var);
        call.written_tensors.push_back(tensor);
      }
      return var;
    });
  }
}

// Whether random numbers decide the variable's value.
bool was_drawn(const Live& live, VarId var) {
  return !live.baked.empty() && trace::depends_on(*live.tape, var, [&](VarId id) {
    const auto it = live.baked.find(id);
    return it != live.baked.end() && !it->second.random.empty();
  });
}

// A value that the operator turns into a number or a choice.
void note_escapes(Live& live, const PendingCall& call) {
  const VarId var = call.noted.empty() ? kNoId : call.noted.front().var;
  if (call.traits.escape == trace::Escape::kNone || (call.node == kNoId && var == kNoId)) return;
  const std::string& name = call.op.schema().name();
  if (call.node == kNoId && was_drawn(live, var)) {
    live.warn(Code::kRandomOutside, "",
              name +
                  " turns random numbers into a number or a choice of branch while a node is open: "
                  "what was drawn now is exported as a constant. Use a deterministic policy for "
                  "export, or pass the draw through annotate.input_tensors().",
              call.frame);
  }
  const bool branch = call.traits.escape == trace::Escape::kBranch;
  live.note_escape(
      var, call.node, call.frame, branch ? Code::kBranch : Code::kNumber,
      name + (branch
                  ? " turns a traced tensor into True or False: the branch taken now is the only "
                    "one that is exported. Use torch.where() to keep the choice in the model."
                  : " turns a traced tensor into a number: whatever is computed from it is "
                    "exported as a constant. Keep it a tensor to keep it in the model."));
}

// Before the call, while passes are recorded.
void note_recorded(Live& live, PendingCall& call) {
  note_arguments(live, call);
  const c10::IValue* arguments = call.arguments().data();
  if (call.node != kNoId) live.check_thread(live.at(call.node));
  if (trace::writes_by_index(call.op)) {
    call.noted[2].var = trace::before_squeeze(*live.tape, arguments, call.noted[2].var);
  }
  if (call.node != kNoId && !call.traits.mutates &&
      (live.sizes_vary || call.traits.size_depends_on_values)) {
    call.sizes = trace::ask_sizes(*live.tape, call.op, arguments, [&](const at::Tensor& tensor) {
      return live.writer_of(tensor) != nullptr;
    });
  }
  note_escapes(live, call);
  call.random = call.traits.is_random(call.stack);
}

// Before the call, while none is.
void note_outside_nodes(Live& live, PendingCall& call) {
  for (std::size_t i = 0; i < call.arguments().size(); ++i) {
    trace::for_each_tensor(call.arguments()[i], [&](const at::Tensor& tensor) {
      if (!call.tag && !call.traits.overwrites[i]) call.tag = live.tag_of(tensor);
      if (call.traits.writes[i]) call.written_tensors.push_back(tensor);
    });
  }
  const bool decides = call.traits.escape == trace::Escape::kBranch;
  if (decides && call.tag && !call.tag->port.empty()) {
    live.branches.emplace(call.tag->node, call.detour());
  }
}

bool fills_memory(const at::Tensor& tensor) {
  return tensor.has_storage() && tensor.is_non_overlapping_and_dense() &&
         tensor.nbytes() == tensor.storage().nbytes();
}

// Whether the last call that touched the memory filled it with what was drawn.
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

// Forgets random numbers that are overwritten before anything has read them: those of a layer whose
// weights are then loaded. The call leaves nothing of what the tensors held that it writes to;
// those that are only a part of their memory do not count.
void forget_overwritten_draws(Live& live, const PendingCall& call) {
  for (const at::Tensor& tensor : call.written_tensors) {
    const auto var = fills_memory(tensor) ? live.tape->find(tensor) : std::nullopt;
    const trace::StoreId store = var ? live.tape->variable(*var).store : kNoId;
    if (store == kNoId) continue;
    std::erase_if(live.baked, [&](const auto& each) {
      return !each.second.random.empty() && was_filled_last(*live.tape, store, each.first);
    });
  }
}

// Nothing traced decides what was drawn: the numbers are as good as written in the program.
void record_draw(Live& live, const PendingCall& call) {
  const auto add = [&](const at::Tensor& drawn) {
    const VarId var = live.tape->add_outside(drawn, true);
    live.baked.insert({var, {var, call.frame, call.op.schema().name(), {}}});
    return var;
  };
  if (!call.traits.mutates) {
    trace::for_each_tensor(call.results(), add);
    return;
  }
  for (const at::Tensor& tensor : call.written_tensors) {
    live.tape->mirror(add(at::clone(tensor)), tensor, call.frame);
  }
}

// After the call, while passes are recorded.
void record_call(Live& live, PendingCall& call) {
  if (!call.traits.returns_tensors && !call.traits.mutates) return;
  if (call.traits.uninitialized) {
    // torch.tensor([..]) and its kin ask for memory here and fill it without an operator.
    trace::for_each_tensor(call.results(),
                           [&](const at::Tensor& made) { live.tape->add_outside(made, true); });
    return;
  }
  if (!live.baked.empty() && (call.traits.writes == call.traits.overwrites || call.random)) {
    forget_overwritten_draws(live, call);
  }
  if (call.random && call.node == kNoId) {
    record_draw(live, call);
    return;
  }
  trace::Tape& tape = *live.tape;
  const VarId lengths = call.traits.counts_lengths ? call.noted[1].var : kNoId;
  tape.append(call.op, call.frame, call.node, call.noted, call.written, call.results());
  if (lengths != kNoId && call.results()[1].isTensor()) {
    // How many sequences go on at each step follows from their lengths alone.
    tape.variable(*tape.find(call.results()[1].toTensor())).node = tape.variable(lengths).node;
  }
  if (call.sizes) live.sizes_vary = call.sizes->note(tape) || live.sizes_vary;
}

void before_call(Live& live, PendingCall& call) {
  call.recorded = live.tape != nullptr;
  if (call.recorded) {
    note_recorded(live, call);
  } else {
    note_outside_nodes(live, call);
  }
  if (call.node == kNoId && call.tag && call.tag->has_route()) {
    call.kept = live.keep_call(call);
  }
  for (const at::Tensor& tensor : call.written_tensors) {
    live.captures.before_write(tensor);
    for (auto& left : live.tags.forget_memory(tensor)) {
      call.partly_written.push_back(std::move(left));
    }
  }
}

// What a copy to a view makes of the tensor that it is a view of: obs[:, 3:6] = velocity.
void note_copy_to_part(Live& live, const PendingCall& call) {
  if (!call.tag || call.tag->port.empty() || !call.traits.only_copies) return;
  for (const at::Tensor& part : call.written_tensors) {
    if (!part.is_view()) continue;
    const at::Tensor whole(part._base());
    if (whole.numel() > part.numel()) {
      live.tags.detour(*call.tag, whole, call.detour(), nullptr, 0);
    }
  }
}

void after_call(Live& live, PendingCall& call) {
  if (call.node == kNoId) {
    for (const auto& [tensor, tag] : call.partly_written) {
      live.tags.detour(*tag, tensor, call.detour(), nullptr, 0);
    }
    note_copy_to_part(live, call);
    if (call.tag) live.hand_on(call, call.tag, call.kept);
  }
  if (call.recorded) {
    if (live.tape) record_call(live, call);
  } else if (call.traits.returns_tensors && !call.traits.mutates && !call.traits.aliases) {
    trace::for_each_tensor(call.results(),
                           [&](const at::Tensor& tensor) { live.note_made(tensor, call.copied); });
  }
}

}  // namespace

void Live::on_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                   torch::jit::Stack* stack) {
  if (!active()) {
    trace::set_observer(nullptr);  // the session ended while this thread was elsewhere
    op.callBoxed(stack);
    return;
  }
  const trace::OpTraits& own_traits = trace::traits_of(op);
  own_traits.type_lists(op, stack);
  const trace::UndeclaredWrite hidden = own_traits.undeclared_write(*stack);
  // The casts of autocast come back as operators of their own, as do parts of what is composed.
  if (keys.has_any(c10::autocast_dispatch_keyset) || hidden == trace::UndeclaredWrite::kInside) {
    trace::redispatch_below(op, keys, stack);
    return;
  }
  if (picking.load(std::memory_order_relaxed)) {
    std::vector<const c10::StorageImpl*> touched;
    const auto arguments = SeenCall{own_traits, op, *stack}.arguments();
    trace::for_each_tensor(arguments, [&](const at::Tensor& tensor) {
      if (tensor.has_storage()) touched.push_back(trace::memory_of(tensor));
    });
    settle_picks(&touched);
  }
  // What runs is the operator itself; what is noted is one that says all it does.
  const bool swaps = hidden == trace::UndeclaredWrite::kItself;
  const c10::OperatorHandle& noted = swaps ? trace::batch_norm_that_declares_its_write() : op;
  const trace::OpTraits& traits = swaps ? trace::traits_of(noted) : own_traits;
  const trace::Unobserved guard;
  if (traits.only_metadata) {
    op.callBoxed(stack);
    return;
  }
  PendingCall call{{traits, noted, *stack}};
  if (traits.only_copies && call.arguments().front().isTensor()) {
    call.copied = call.arguments().front().toTensor();
  }
  if (recording.load(std::memory_order_relaxed) > 0 || traits.mutates || !tags.empty()) {
    call.frame = trace::capture_source();
    try {
      locked(call.frame, [&](Live& live) { before_call(live, call); });
    } catch (const Error& error) {
      if (hooks().rethrow) hooks().rethrow(error);
      throw;
    }
  }
  op.callBoxed(stack);
  if (call.sizes) call.sizes->answer(op, *stack);
  const Lock lock;
  after_call(*this, call);
}

void Live::settle_picks(const std::vector<const c10::StorageImpl*>* touched) {
  thread_local bool settling = false;  // these operators come here as well
  if (settling || !picking) return;
  settling = true;
  const auto settled = c10::make_scope_exit([] { settling = false; });
  for (;;) {
    std::optional<trace::Picks::Step> step;
    {
      const Lock lock;
      if (tape) step = picks.next(*tape, touched);
      if (picks.empty()) picking = false;
    }
    if (!step) return;
    step->take();
    const Lock lock;
    trace::Picks::agree(*tape, *step->pick);
  }
}

std::optional<VarId> Live::variable_of(const at::Tensor& tensor) const {
  return may_be_known(tensor) ? tape->find(tensor) : std::nullopt;
}

NodeId Live::owner_of(const at::Tensor& tensor) const {
  const auto var = variable_of(tensor);
  return var ? tape->variable(*var).node : kNoId;
}

void Live::note_made(const at::Tensor& tensor, const at::Tensor& copied) {
  constexpr std::size_t kMany = 4096;
  if (!active() || !tensor.has_storage()) return;
  if (made.size() >= kMany) {
    erase_where(made, [](const auto& entry) { return entry.second.storage.expired(); });
    if (made.size() >= kMany) return;  // a program that keeps so much is not short of names
  }
  Made now = {.passes = passes};
  if (copied.defined() && copied.has_storage()) {
    const auto source = made.find(trace::memory_of(copied));
    const bool is_copy = source != made.end() && source->second.value.copy_of;
    now.copy_of = is_copy ? source->second.value.copy_of : copied.storage().getWeakStorageImpl();
  }
  set_memory(made, tensor.storage(), std::move(now));
}

void Live::note_escape(VarId var, NodeId owner, trace::FrameRef frame, Code code,
                       const std::string& text) {
  if (owner != kNoId) {
    at(owner).read_values = true;
    warn(code, at(owner).name, text, frame);
    return;
  }
  for (LiveNode& node : nodes) {
    if (node.pass.recorded) node.pass.made.escapes.push_back({var, frame, code, text});
  }
}

}  // namespace leapp::session
