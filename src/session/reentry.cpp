// Session's half that compares a later pass with the first: what a node carries from one to the
// next, and what the export would take for constant though it is not.
#include <ATen/ops/equal.h>

#include <algorithm>
#include <sstream>

#include "session/alignment.h"
#include "session/session.h"

namespace leapp::session {
namespace {

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

bool depends_on_inputs(const trace::Tape& tape, VarId var) {
  return trace::depends_on(tape, var, [&](VarId id) {
    return tape.variable(id).origin == trace::Variable::Origin::kInput;
  });
}

}  // namespace

// The pass that a later one is compared with.
struct Session::Base {
  Node& node;
  const trace::Recording& recording;
  Carried& carried;
  Notes& notes;
  int pass;  // its number
};

void Session::follow_pass(Node& node, const trace::Recording& again) {
  const auto compare_with = [&](const Base& base) {
    const Alignment aligned =
        align({*base.recording.tape, base.recording.calls}, {*again.tape, again.calls});
    follow_carried(base, again, aligned);
    compare_passes(base, again, aligned);
  };
  compare_with({node, node.recording, node.carried, node.notes, 0});
  Node::Later& later = node.later;
  if (node.passes == 1 && !node.notes.empty()) {
    later.recording = again;
  } else if (later.recording.tape) {
    compare_with({node, later.recording, later.carried, later.notes, 1});
  }
}

// Tensors from outside that the program replaces from pass to pass.
void Session::follow_carried(const Base& base, const trace::Recording& again,
                             const Alignment& aligned) {
  Node& node = base.node;
  const auto pass_of = [&](const trace::Recording& recording) {
    CarriedPass pass;
    pass.tape = recording.tape;
    for (std::int32_t i = recording.first_call; i < recording.end_call; ++i) {
      const NodeId owner = recording.tape->calls()[static_cast<std::size_t>(i)].node;
      if (owner == kNobody || owner == node.id) pass.calls.push_back(i);
    }
    pass.inputs = recording.inputs;
    return pass;
  };
  const trace::Recording& first = base.recording;
  CarriedContext context;
  context.candidate = [&](VarId var) -> std::optional<std::int32_t> {
    const auto store = first.tape->variable(var).store;
    for (std::size_t i = 0; i < first.states.size(); ++i) {
      const trace::StateCandidate& state = first.states[i];
      if (state.before != var &&
          (store == kNobody || first.tape->variable(state.before).store != store)) {
        continue;
      }
      if (state.kind == trace::StateCandidate::Kind::kExplicit) return std::nullopt;
      return static_cast<std::int32_t>(i);
    }
    return -1;
  };
  context.left = [&](std::int32_t candidate) {
    const std::string& name = first.states[static_cast<std::size_t>(candidate)].name;
    return node.samples[static_cast<std::size_t>(base.pass)].states_after.at(name);
  };
  context.port_of = [&](const at::Tensor& tensor) -> std::optional<CarriedPort> {
    const auto tag = tags_.find(tensor);
    if (!tag || !tag->exact() || writer_of(tensor) != nullptr) return std::nullopt;
    return CarriedPort{tag->node, tag->port};
  };
  context.is_shared = [&](const at::Tensor& tensor) {
    const MemoryUse::Writer* writer = writer_of(tensor);
    return writer != nullptr && writer->node != node.id;
  };
  if (base.carried.empty()) base.carried.add(pass_of(first), context);
  warn_of_escapes(base.carried, again);
  CarriedPass pass = pass_of(again);
  pass.apart = aligned.difference.has_value();
  base.carried.add(pass, context);
  const auto changes = [&](VarId var) { return base.carried.changes(var); };
  for (const trace::Recording::Escape& escape : first.escapes) {
    if (!trace::depends_on(*first.tape, escape.var, changes)) continue;
    queue_once(LogLevel::kWarning, escape.text, escape.where);
  }
}

// Numbers and choices that are no input's, but that of memory the node writes to, or of what it
// computed in the pass before.
void Session::warn_of_escapes(const Carried& carried, const trace::Recording& recording) {
  const trace::Tape& tape = *recording.tape;
  const auto changes = [&](VarId var) {
    const trace::Variable& variable = tape.variable(var);
    if (variable.origin != trace::Variable::Origin::kOutside || variable.store == kNobody) {
      return false;
    }
    const trace::Store& store = tape.store(variable.store);
    if (store.fresh) return false;
    return store.last_write >= recording.first_call || carried.was_computed(tape, var);
  };
  for (const trace::Recording::Escape& escape : recording.escapes) {
    if (!trace::depends_on(tape, escape.var, changes)) continue;
    queue_once(LogLevel::kWarning, escape.text, escape.where);
  }
}

// A re-entry that runs other operators, or the same ones with other numbers, shows that something
// the export takes for constant is not.
void Session::compare_passes(const Base& base, const trace::Recording& again,
                             const Alignment& aligned) {
  const Node& node = base.node;
  const Carried& carried = base.carried;
  const trace::Recording& first = base.recording;
  const trace::Tape& old_tape = *first.tape;
  const trace::Tape& new_tape = *again.tape;
  const auto note = [&](const std::string& text, trace::FrameRef where, bool constant = false) {
    const auto is_known = [&](const Note& known) {
      return known.text.starts_with(text) && known.where.code == where.code &&
             known.where.position == where.position;
    };
    if (std::any_of(base.notes.begin(), base.notes.end(), is_known)) return;
    base.notes.push_back({text + " (pass " + std::to_string(node.passes) + " of node '" +
                              node.name + "' against the " + (base.pass == 0 ? "first" : "second") +
                              " pass): what the first pass did is what is exported",
                          where, constant});
  };
  // A value that this node computed in an earlier pass.
  const auto is_own = [&](VarId var) {
    const auto origin = outsiders_.find(var);
    return origin != outsiders_.end() && origin->second.tag && origin->second.tag->node == node.id;
  };
  const auto note_own = [&](const trace::Call& reader) {
    note("a tensor that " + reader.op.schema().name() +
             " reads was computed by this node in an earlier pass, so it is state: declare it with "
             "annotate.state_tensors() and annotate.update_state(), or keep it in a buffer of a "
             "module and call annotate.module()",
         reader.frame);
  };
  std::set<VarId> noted;
  std::vector<bool> compared(old_tape.variable_count(), false);
  const auto compare_outside = [&](VarId old_var, VarId new_var, const trace::Call& a,
                                   const trace::Call& b) {
    if (old_var == kNobody || new_var == kNobody) return;
    if (carried.explains(new_var)) return;
    using Origin = trace::Variable::Origin;
    const bool was_outside = old_tape.variable(old_var).origin == Origin::kOutside;
    const bool is_outside = new_tape.variable(new_var).origin == Origin::kOutside;
    if (was_outside != is_outside &&
        depends_on_inputs(is_outside ? old_tape : new_tape, is_outside ? old_var : new_var)) {
      note(a.op.schema().name() +
               (is_outside ? " reads a tensor from outside where the first pass read a value that "
                             "it had computed"
                           : " reads a value that this pass computed where the first one read a "
                             "tensor from outside") +
               ", so if only the very first tick differs, trace three passes or more",
           b.frame);
    }
    if (!was_outside || !is_outside || compared[static_cast<std::size_t>(old_var)]) return;
    compared[static_cast<std::size_t>(old_var)] = true;
    const auto is_before = [&](const trace::StateCandidate& s) { return s.before == old_var; };
    if (std::any_of(first.states.begin(), first.states.end(), is_before)) return;
    // Scratch memory: what the pass reads there it wrote itself.
    if (old_tape.written_since(old_var, first.first_call)) return;
    if (writer_of(new_tape.variable(new_var).held) != nullptr) return;  // shared state
    const at::Tensor old_content = old_tape.content(old_var);
    const at::Tensor new_content = new_tape.content(new_var);
    const bool same_memory = old_content.is_same(new_content) ||
                             (old_content.has_storage() && new_content.has_storage() &&
                              old_content.const_data_ptr() == new_content.const_data_ptr());
    if (same_memory || (old_content.sizes() == new_content.sizes() &&
                        old_content.scalar_type() == new_content.scalar_type() &&
                        at::equal(old_content, new_content))) {
      return;
    }
    noted.insert(new_var);
    if (is_own(new_var)) {
      note_own(b);
    } else {
      note("a tensor from outside that " + a.op.schema().name() +
               " reads changed. If it varies, pass it through annotate.input_tensors()",
           b.frame, true);
    }
  };
  for (const auto& [old_index, new_index] : aligned.pairs) {
    const trace::Call& a = old_tape.calls()[static_cast<std::size_t>(old_index)];
    const trace::Call& b = new_tape.calls()[static_cast<std::size_t>(new_index)];
    const trace::Arg* old_args = old_tape.args_of(a);
    const trace::Arg* new_args = new_tape.args_of(b);
    const auto& declared = a.op.schema().arguments();
    bool of_one_form = true;
    for (std::size_t k = 0; k < declared.size() && of_one_form; ++k) {
      of_one_form =
          old_args[k].kind == new_args[k].kind && old_args[k].list_size == new_args[k].list_size;
      if (of_one_form) continue;
      note(a.op.schema().name() + " got " + describe(new_args[k]) + " for " + declared[k].name() +
               ", where it got " + describe(old_args[k]) +
               " before. If it is state, let it begin with a tensor of the shape it will have, or "
               "with as many of them",
           b.frame);
    }
    for (std::size_t k = 0; k < declared.size() && of_one_form; ++k) {
      if (old_args[k].kind == trace::Arg::Kind::kValue &&
          !same_value(old_args[k].value, new_args[k].value)) {
        const bool number = new_args[k].value.isScalar() || new_args[k].value.isTensor();
        note(a.op.schema().name() + " got " + declared[k].name() + "=" +
                 text_of(new_args[k].value) + ", which was " + text_of(old_args[k].value) +
                 " before" +
                 (number ? ". A number that changes has to be a tensor to become state "
                           "(self.count = torch.zeros(()), say), or an input"
                         : ""),
             b.frame, true);
      }
      if (old_args[k].kind == trace::Arg::Kind::kTensor) {
        compare_outside(old_args[k].var, new_args[k].var, a, b);
      }
      for (std::int32_t item = 0; item < old_args[k].list_size; ++item) {
        compare_outside(old_tape.list_item(old_args[k].list_begin + item),
                        new_tape.list_item(new_args[k].list_begin + item), a, b);
      }
    }
  }
  // What is left is read by calls that have no counterpart.
  const auto is_state = [&](VarId var) {
    return std::any_of(again.states.begin(), again.states.end(), [&](const auto& state) {
      const auto store = new_tape.variable(var).store;
      return state.before == var ||
             (store != kNobody && new_tape.variable(state.before).store == store);
    });
  };
  auto is_paired = [pair = aligned.pairs.begin(),
                    end = aligned.pairs.end()](std::int32_t index) mutable {
    while (pair != end && pair->second < index) ++pair;
    return pair != end && pair->second == index;
  };
  for (const std::int32_t index : again.calls) {
    if (is_paired(index)) continue;
    const trace::Call& call = new_tape.calls()[static_cast<std::size_t>(index)];
    trace::for_each_variable(new_tape, call, [&](VarId var) {
      if (!is_own(var) || carried.explains(var) || is_state(var)) return;
      if (writer_of(new_tape.variable(var).held) == nullptr && noted.insert(var).second) {
        note_own(call);
      }
    });
  }
  std::optional<std::pair<std::int32_t, std::int32_t>> difference = aligned.difference;
  if (!difference && carried.added_call()) difference = {-1, *carried.added_call()};
  if (!difference) return;
  const auto [old_index, new_index] = *difference;
  const auto call_at = [](const trace::Tape& tape, std::int32_t index) -> const trace::Call& {
    return tape.calls()[static_cast<std::size_t>(index)];
  };
  const auto name_at = [&](const trace::Tape& tape, std::int32_t index) {
    return c10::toString(call_at(tape, index).op.operator_name());
  };
  if (old_index < 0) {
    note("control flow changed: " + name_at(new_tape, new_index) + " ran, which did not run before",
         call_at(new_tape, new_index).frame);
  } else if (new_index < 0) {
    note("control flow changed: " + name_at(old_tape, old_index) + " did not run, which ran before",
         call_at(old_tape, old_index).frame);
  } else {
    note("control flow changed: " + name_at(new_tape, new_index) + " ran where " +
             name_at(old_tape, old_index) +
             " ran before, so if only the very first tick differs, trace three passes or more",
         call_at(new_tape, new_index).frame);
  }
}

}  // namespace leapp::session
