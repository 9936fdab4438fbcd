#include "state/comparison.h"

#include <algorithm>
#include <set>

#include "trace/alignment.h"
#include "trace/argument.h"
#include "trace/constant.h"

namespace leapp::state {
namespace {

std::string name_at(const trace::Tape& tape, std::int32_t index) {
  return index < 0 ? "" : c10::toString(tape.call(index).op.operator_name());
}

// Compares one later pass with the base, in the calls that compute outputs and states.
class Comparison {
 public:
  Comparison(const Subject& subject, const WrittenPass& again, const FollowedPass& followed,
             const std::vector<State>& states)
      : subject_(subject), again_(again), followed_(followed) {
    align(states);
  }

  std::vector<Difference> run() && {
    note_control_flow();  // first, because a constant may differ if another call reads it now
    for (const auto& [old_index, new_index] : aligned_.pairs) compare_calls(old_index, new_index);
    note_unpaired_state();
    return std::move(differences_);
  }

 private:
  void note(std::string text, trace::FrameRef where, bool constant = false,
            std::string cause = {}) {
    if (cause.empty()) cause = text;
    differences_.push_back({std::move(text), std::move(cause), where, constant});
  }

  void align(const std::vector<State>& states) {
    std::vector<StateSlot> there = slots_of(first_.states);
    std::vector<StateSlot> here = slots_of(again_.states);
    for (const State& state : states) {
      const VarId after = state.slot.after;
      if (after == kNoId) continue;
      const VarId counterpart = followed_.counterpart(after);
      const bool computed =
          state.origin == State::Origin::kCarried && trace::depends_on_inputs(old_tape_, after);
      if (counterpart == kNoId && !computed) continue;
      there.push_back({.after = after});
      here.push_back({.after = counterpart});
    }
    const std::vector<std::int32_t> old_calls = trace::calls_for(first_.pass->recording, there);
    new_calls_ = trace::calls_for(again_.pass->recording, here);
    aligned_ = trace::align({old_tape_, old_calls}, {new_tape_, new_calls_});
  }

  void compare_calls(std::int32_t old_index, std::int32_t new_index) {
    const trace::Call& a = old_tape_.call(old_index);
    const trace::Call& b = new_tape_.call(new_index);
    const c10::FunctionSchema& schema = a.op.schema();
    for (std::size_t k = 0; k < schema.arguments().size(); ++k) {
      const trace::Arg& was = old_tape_.args_of(a)[k];
      const trace::Arg& is = new_tape_.args_of(b)[k];
      const std::string& name = schema.arguments()[k].name();
      // A number, a tensor, or a list of the same length?
      if (was.kind != is.kind || was.list_size != is.list_size) {
        note(schema.name() + " got " + trace::text_of(is) + " for " + name +
                 "; in the first pass it got " + trace::text_of(was) +
                 ". If it is state, start it with a tensor of its final shape, or with the "
                 "final number of tensors",
             b.frame);
        return;
      }
      if (was.kind != trace::Arg::Kind::kValue || trace::same_argument(was.value, is.value))
        continue;
      const bool number = is.value.isScalar() || is.value.isTensor();
      note(schema.name() + " got " + name + "=" + trace::text_of(is.value) + ", which was " +
               trace::text_of(was.value) + " before" +
               (number ? ". A number that changes must be an input, or a tensor that becomes state "
                         "(self.count = torch.zeros(()))"
                       : ""),
           b.frame, true, schema.name() + " " + name);
    }
    // Memory that several tensors share has the name of each of them.
    bool explained = false;
    trace::for_each_result(new_tape_, b, [&](VarId var) {
      explained |= b.is_inferred_alias() && followed_.explains(var);
    });
    if (explained) return;
    trace::for_each_site(old_tape_, old_index, [&](const trace::Site& site, VarId was) {
      const trace::Site there = {new_index, site.arg, site.item};
      compare_tensors(site, was, there, trace::variable_at(new_tape_, there));
    });
  }

  void compare_tensors(const trace::Site& first_site, VarId was, const trace::Site& site,
                       VarId is) {
    if (was == kNoId || is == kNoId || followed_.explains(is)) return;
    const trace::Call& b = new_tape_.call(site.call);
    const bool was_outside = old_tape_.variable(was).origin == trace::Variable::Origin::kOutside;
    const bool is_outside = new_tape_.variable(is).origin == trace::Variable::Origin::kOutside;
    if (was_outside != is_outside &&
        trace::depends_on_inputs(is_outside ? old_tape_ : new_tape_, is_outside ? was : is)) {
      note(b.op.schema().name() +
               (is_outside ? " reads a tensor from outside the node, but the first pass read a "
                             "value that it had computed"
                           : " reads a value that this pass computed, but the first pass read a "
                             "tensor from outside the node") +
               describe_argument(old_tape_, first_site, subject_.paths),
           b.frame);
    }
    if (!was_outside || !is_outside || !compared_.insert(was).second) return;
    const auto is_before = [&](const State& state) { return state.slot.before == was; };
    if (std::ranges::any_of(first_.states, is_before)) return;
    // Scratch memory: the pass reads only its own writes.
    if (first_.pass->writes(was)) return;
    // Memory that a node wrote is wired as shared state.
    const session::OutsideRead* read = again_.pass->find_outside(is);
    if (read != nullptr && read->writer) return;
    if (trace::same_value(old_tape_.content(was), new_tape_.content(is))) return;
    noted_.insert(is);
    if (is_own(is)) {
      note_own(site);
      return;
    }
    // A call without a frame represents the node as a whole.
    note("a tensor from outside the node that " +
             (b.frame.code == nullptr ? "the node" : b.op.schema().name()) + " reads" +
             describe_argument(old_tape_, first_site, subject_.paths) +
             " changed. If it varies, pass it through annotate.input_tensors()",
         b.frame, true);
  }

  // Returns whether this node computed the value of an external variable in an earlier pass, and no
  // node wrote it there.
  bool is_own(VarId var) const {
    const session::OutsideRead* read = again_.pass->find_outside(var);
    return read != nullptr && read->from == subject_.node.id && !read->writer;
  }

  void note_own(const trace::Site& site) {
    const trace::Call& reader = new_tape_.call(site.call);
    note("a tensor that " + reader.op.schema().name() + " reads" +
             describe_argument(new_tape_, site, subject_.paths) +
             " was computed by this node in an earlier pass, so it is state: declare it with "
             "annotate.state_tensors() and annotate.update_state(), or keep it in a buffer of a "
             "module and call annotate.module()",
         reader.frame);
  }

  // State that is read by calls without a counterpart.
  void note_unpaired_state() {
    const auto is_state = [&](VarId var) {
      return std::ranges::any_of(again_.states, [&](const State& state) {
        return new_tape_.same_memory(var, state.slot.before);
      });
    };
    auto pair = aligned_.pairs.begin();
    for (const std::int32_t index : new_calls_) {
      while (pair != aligned_.pairs.end() && pair->second < index) ++pair;
      if (pair != aligned_.pairs.end() && pair->second == index) continue;
      trace::for_each_site(new_tape_, index, [&](const trace::Site& site, VarId var) {
        if (var == kNoId || !is_own(var) || followed_.explains(var) || is_state(var)) return;
        if (noted_.insert(var).second) note_own(site);
      });
    }
  }

  void note_control_flow() {
    std::optional<std::pair<std::int32_t, std::int32_t>> difference = aligned_.difference;
    if (!difference && followed_.added_call) difference = {-1, *followed_.added_call};
    if (!difference) return;
    const auto [old_index, new_index] = *difference;
    std::string then = name_at(old_tape_, old_index);
    const std::string now = name_at(new_tape_, new_index);
    if (then == now) {
      then = "that of " + trace::resolve_source(old_tape_.call(old_index).frame).to_string();
    }
    std::string what = now + " ran instead of " + then;
    if (then.empty()) what = now + " ran, which did not run before";
    if (now.empty()) what = then + " did not run, which ran before";
    note("control flow changed: " + what,
         now.empty() ? old_tape_.call(old_index).frame : new_tape_.call(new_index).frame);
  }

  const Subject& subject_;
  const WrittenPass& first_ = subject_.first();
  const WrittenPass& again_;
  const trace::Tape& old_tape_ = first_.pass->tape();
  const trace::Tape& new_tape_ = again_.pass->tape();
  const FollowedPass& followed_;
  std::vector<std::int32_t> new_calls_;
  trace::Alignment aligned_;
  std::set<VarId> compared_;  // variables of the first pass
  std::set<VarId> noted_;     // of the later one
  std::vector<Difference> differences_;
};

}  // namespace

std::vector<Difference> compare_passes(const Subject& subject, const Carried& carried) {
  std::vector<Difference> found;
  for (std::size_t i = subject.base + 1; i < subject.passes.size(); ++i) {
    Comparison comparison(subject, subject.passes[i], carried.followed.passes[i - subject.base - 1],
                          carried.kept.states);
    for (Difference& each : std::move(comparison).run()) {
      // A call without a frame represents the node.
      if (each.where.code == nullptr) each.where = subject.passes[i].pass->opened_at;
      const auto is_known = [&](const Difference& known) {
        return known.cause == each.cause && known.where == each.where;
      };
      if (std::ranges::any_of(found, is_known)) continue;
      each.text += " (pass " + std::to_string(i + 1) + " of node '" + subject.node.name +
                   "' against the " + (subject.base == 0 ? "first" : "second") +
                   " pass). The export contains the first pass";
      found.push_back(std::move(each));
    }
  }
  return found;
}

}  // namespace leapp::state
