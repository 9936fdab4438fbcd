#include "session/pass_comparison.h"

#include <ATen/ops/equal.h>

#include <algorithm>
#include <sstream>

namespace leapp::session {
namespace {

using trace::kNobody;
using trace::VarId;
using Origin = trace::Variable::Origin;

constexpr const char* kFirstTick =
    ", so if only the very first tick differs, trace three passes or more";

std::string text_of(const c10::IValue& value) {
  if (value.isTensor()) {
    return value.toTensor().numel() == 1 ? c10::toString(value.toTensor().item()) : "a tensor";
  }
  std::ostringstream text;
  text << value;
  return text.str();
}

bool same_value(const c10::IValue& a, const c10::IValue& b) {
  if (a.isTensor() != b.isTensor()) return false;
  if (a.isTensor()) {
    if (a.toTensor().defined() != b.toTensor().defined()) return false;
    return !a.toTensor().defined() || at::equal(a.toTensor(), b.toTensor());
  }
  if (a.isDouble() && b.isDouble()) {
    const bool both_nan = a.toDouble() != a.toDouble() && b.toDouble() != b.toDouble();
    return both_nan || a.toDouble() == b.toDouble();
  }
  if (a.isInt() && b.isInt()) return a.toInt() == b.toInt();
  if (a.isBool() && b.isBool()) return a.toBool() == b.toBool();
  if (a.isNone() && b.isNone()) return true;
  return a.tagKind() == b.tagKind() && (a.isGenerator() || a == b);
}

// An argument of a call, in words.
std::string describe(const trace::Arg& arg) {
  switch (arg.kind) {
    case trace::Arg::Kind::kTensor:
      return "a tensor";
    case trace::Arg::Kind::kTensorList:
      return std::to_string(arg.list_size) + (arg.list_size == 1 ? " tensor" : " tensors");
    case trace::Arg::Kind::kValue:
      break;
  }
  return text_of(arg.value);
}

const trace::Call& call_at(const trace::Tape& tape, std::int32_t index) {
  return tape.calls()[static_cast<std::size_t>(index)];
}

std::string name_at(const trace::Tape& tape, std::int32_t index) {
  return c10::toString(call_at(tape, index).op.operator_name());
}

}  // namespace

PassComparison::PassComparison(const trace::Recording& first, const trace::Recording& again,
                               const Alignment& aligned, const Carried& carried,
                               ComparisonContext context)
    : first_(first),
      again_(again),
      old_tape_(*first.tape),
      new_tape_(*again.tape),
      aligned_(aligned),
      carried_(carried),
      context_(std::move(context)),
      compared_(old_tape_.variable_count(), false) {}

Notes PassComparison::run() {
  for (const auto& [old_index, new_index] : aligned_.pairs) {
    compare_calls(call_at(old_tape_, old_index), call_at(new_tape_, new_index));
  }
  note_unpaired_state();
  note_control_flow();
  return std::move(notes_);
}

void PassComparison::note(std::string text, trace::FrameRef where, bool constant) {
  notes_.push_back({std::move(text), where, constant});
}

void PassComparison::compare_calls(const trace::Call& a, const trace::Call& b) {
  if (!compare_forms(a, b)) return;
  const trace::Arg* old_args = old_tape_.args_of(a);
  const trace::Arg* new_args = new_tape_.args_of(b);
  for (std::size_t k = 0; k < a.op.schema().arguments().size(); ++k) {
    if (old_args[k].kind == trace::Arg::Kind::kValue) compare_values(a, b, k);
    if (old_args[k].kind == trace::Arg::Kind::kTensor) {
      compare_tensors(old_args[k].var, new_args[k].var, b);
    }
    for (std::int32_t item = 0; item < old_args[k].list_size; ++item) {
      compare_tensors(old_tape_.list_item(old_args[k].list_begin + item),
                      new_tape_.list_item(new_args[k].list_begin + item), b);
    }
  }
}

// Whether both took a number, a tensor, or as many tensors in each place.
bool PassComparison::compare_forms(const trace::Call& a, const trace::Call& b) {
  const trace::Arg* old_args = old_tape_.args_of(a);
  const trace::Arg* new_args = new_tape_.args_of(b);
  const auto& declared = a.op.schema().arguments();
  for (std::size_t k = 0; k < declared.size(); ++k) {
    if (old_args[k].kind == new_args[k].kind && old_args[k].list_size == new_args[k].list_size) {
      continue;
    }
    note(a.op.schema().name() + " got " + describe(new_args[k]) + " for " + declared[k].name() +
             ", where it got " + describe(old_args[k]) +
             " before. If it is state, let it begin with a tensor of the shape it will have, or "
             "with as many of them",
         b.frame);
    return false;
  }
  return true;
}

void PassComparison::compare_values(const trace::Call& a, const trace::Call& b,
                                    std::size_t parameter) {
  const c10::IValue& was = old_tape_.args_of(a)[parameter].value;
  const c10::IValue& is = new_tape_.args_of(b)[parameter].value;
  if (same_value(was, is)) return;
  const bool number = is.isScalar() || is.isTensor();
  note(a.op.schema().name() + " got " + a.op.schema().arguments()[parameter].name() + "=" +
           text_of(is) + ", which was " + text_of(was) + " before" +
           (number ? ". A number that changes has to be a tensor to become state (self.count = "
                     "torch.zeros(()), say), or an input"
                   : ""),
       b.frame, true);
}

void PassComparison::compare_tensors(VarId was, VarId is, const trace::Call& b) {
  if (was == kNobody || is == kNobody || carried_.explains(is)) return;
  const bool was_outside = old_tape_.variable(was).origin == Origin::kOutside;
  const bool is_outside = new_tape_.variable(is).origin == Origin::kOutside;
  if (was_outside != is_outside &&
      trace::depends_on_inputs(is_outside ? old_tape_ : new_tape_, is_outside ? was : is)) {
    note(b.op.schema().name() +
             (is_outside ? " reads a tensor from outside where the first pass read a value that it "
                           "had computed"
                         : " reads a value that this pass computed where the first one read a "
                           "tensor from outside") +
             kFirstTick,
         b.frame);
  }
  if (!was_outside || !is_outside || compared_[static_cast<std::size_t>(was)]) return;
  compared_[static_cast<std::size_t>(was)] = true;
  const auto is_before = [&](const trace::StateCandidate& state) { return state.before == was; };
  if (std::any_of(first_.states.begin(), first_.states.end(), is_before)) return;
  // Scratch memory: what the pass reads there it wrote itself.
  if (old_tape_.written_since(was, first_.first_call)) return;
  if (context_.is_written(new_tape_.variable(is).held) || has_the_same_content(was, is)) return;
  noted_.insert(is);
  if (context_.is_own(is)) {
    note_own(b);
    return;
  }
  const bool ours = b.frame.code == nullptr;  // it stands for the node as a whole
  note("a tensor from outside that " + (ours ? "the node" : b.op.schema().name()) +
           " reads changed. If it varies, pass it through annotate.input_tensors()",
       b.frame, true);
}

bool PassComparison::has_the_same_content(VarId was, VarId is) const {
  const at::Tensor before = old_tape_.content(was);
  const at::Tensor now = new_tape_.content(is);
  if (before.is_same(now)) return true;
  if (before.has_storage() && now.has_storage() &&
      before.const_data_ptr() == now.const_data_ptr()) {
    return true;
  }
  return before.sizes() == now.sizes() && before.scalar_type() == now.scalar_type() &&
         at::equal(before, now);
}

void PassComparison::note_own(const trace::Call& reader) {
  note("a tensor that " + reader.op.schema().name() +
           " reads was computed by this node in an earlier pass, so it is state: declare it with "
           "annotate.state_tensors() and annotate.update_state(), or keep it in a buffer of a "
           "module and call annotate.module()",
       reader.frame);
}

// State that is read by calls without a counterpart.
void PassComparison::note_unpaired_state() {
  const auto is_state = [&](VarId var) {
    return std::any_of(again_.states.begin(), again_.states.end(), [&](const auto& state) {
      const auto store = new_tape_.variable(var).store;
      return state.before == var ||
             (store != kNobody && new_tape_.variable(state.before).store == store);
    });
  };
  auto pair = aligned_.pairs.begin();
  for (const std::int32_t index : again_.calls) {
    while (pair != aligned_.pairs.end() && pair->second < index) ++pair;
    if (pair != aligned_.pairs.end() && pair->second == index) continue;
    const trace::Call& call = call_at(new_tape_, index);
    trace::for_each_variable(new_tape_, call, [&](VarId var) {
      if (!context_.is_own(var) || carried_.explains(var) || is_state(var)) return;
      if (context_.is_written(new_tape_.variable(var).held)) return;
      if (noted_.insert(var).second) note_own(call);
    });
  }
}

void PassComparison::note_control_flow() {
  std::optional<std::pair<std::int32_t, std::int32_t>> difference = aligned_.difference;
  if (!difference && carried_.added_call()) difference = {-1, *carried_.added_call()};
  if (!difference) return;
  const auto [old_index, new_index] = *difference;
  if (old_index < 0) {
    note(
        "control flow changed: " + name_at(new_tape_, new_index) + " ran, which did not run before",
        call_at(new_tape_, new_index).frame);
  } else if (new_index < 0) {
    note(
        "control flow changed: " + name_at(old_tape_, old_index) + " did not run, which ran before",
        call_at(old_tape_, old_index).frame);
  } else {
    note("control flow changed: " + name_at(new_tape_, new_index) + " ran where " +
             name_at(old_tape_, old_index) + " ran before" + kFirstTick,
         call_at(new_tape_, new_index).frame);
  }
}

}  // namespace leapp::session
