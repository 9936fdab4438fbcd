// Session's half that compares a later pass with the first: what a node carries from one to the
// next, and what the export would take for constant though it is not.
#include <algorithm>

#include "session/alignment.h"
#include "session/pass_comparison.h"
#include "session/session.h"

namespace leapp::session {

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

void Session::compare_passes(const Base& base, const trace::Recording& again,
                             const Alignment& aligned) {
  const Node& node = base.node;
  ComparisonContext context;
  context.is_own = [&](VarId var) {
    const auto origin = outsiders_.find(var);
    return origin != outsiders_.end() && origin->second.tag && origin->second.tag->node == node.id;
  };
  context.is_written = [&](const at::Tensor& tensor) { return writer_of(tensor) != nullptr; };
  PassComparison comparison(base.recording, again, aligned, base.carried, std::move(context));
  for (Note& note : comparison.run()) {
    if (note.where.code == nullptr) note.where = node.opened_at;  // a call that is our own
    const auto is_known = [&](const Note& known) {
      return known.text.starts_with(note.text) && known.where.code == note.where.code &&
             known.where.position == note.where.position;
    };
    if (std::any_of(base.notes.begin(), base.notes.end(), is_known)) continue;
    note.text += " (pass " + std::to_string(node.passes) + " of node '" + node.name +
                 "' against the " + (base.pass == 0 ? "first" : "second") +
                 " pass): what the first pass did is what is exported";
    base.notes.push_back(std::move(note));
  }
}

}  // namespace leapp::session
