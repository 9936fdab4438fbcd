#include "trace/recording.h"

#include <algorithm>

#include "trace/op_traits.h"

namespace leapp::trace {
namespace {

class Slicer {
 public:
  Slicer(const Tape& tape, const std::set<Site>& given)
      : tape_(tape),
        given_(given),
        vars_(tape.variable_count(), false),
        stores_(tape.store_count(), false) {}

  void mark_live(VarId var) {
    if (var == kNoId) return;
    vars_[static_cast<std::size_t>(var)] = true;
    const StoreId store = tape_.variable(var).store;
    if (store != kNoId) stores_[static_cast<std::size_t>(store)] = true;
  }

  std::vector<std::int32_t> run() {
    std::vector<std::int32_t> first;
    for (std::int32_t i = tape_.call_count() - 1; i >= 0; --i) {
      if (tape_.call(i).kind == Call::Kind::kPart) {
        first.push_back(i);
      } else {
        choose(i);
      }
    }
    // A part of a part was found before the whole, so the newest of them runs first.
    std::for_each(first.rbegin(), first.rend(), [&](std::int32_t i) { choose(i); });
    std::reverse(chosen_.begin(), chosen_.end());
    return std::move(chosen_);
  }

 private:
  void choose(std::int32_t index) {
    if (!defines_live(tape_.call(index), index)) return;
    chosen_.push_back(index);
    for_each_site(tape_, index, [&](const Site& site, VarId var) {
      if (given_.empty() || given_.count(site) == 0) mark_live(var);
    });
  }

  template <typename Visit>
  void for_each_tensor_argument(const Call& call, Visit&& visit) const {
    const OpTraits& traits = traits_of(call.op);
    const Arg* args = tape_.args_of(call);
    for (std::size_t i = 0; i < traits.writes.size(); ++i) {
      if (args[i].kind == Arg::Kind::kTensor) visit(args[i].var, traits.writes[i]);
      if (args[i].kind != Arg::Kind::kTensorList) continue;
      for (std::int32_t k = 0; k < args[i].list_size; ++k) {
        visit(tape_.list_item(args[i].list_begin + k), traits.writes[i]);
      }
    }
  }

  bool defines_live(const Call& call, std::int32_t index) const {
    bool defines = false;
    for_each_result(tape_, call, [&](VarId var) { defines |= is_live_definition(var, index); });
    if (defines) return true;
    bool writes_live = false;
    for_each_tensor_argument(call, [&](VarId var, bool writes) {
      if (!writes || var == kNoId) return;
      const StoreId store = tape_.variable(var).store;
      writes_live |= store == kNoId ? vars_[static_cast<std::size_t>(var)]
                                    : stores_[static_cast<std::size_t>(store)];
    });
    return writes_live;
  }

  // The call that produced a result defines it, not a later call that returns it after a write.
  bool is_live_definition(VarId var, std::int32_t call) const {
    return var != kNoId && vars_[static_cast<std::size_t>(var)] && tape_.variable(var).call == call;
  }

  const Tape& tape_;
  const std::set<Site>& given_;
  std::vector<bool> vars_;
  std::vector<bool> stores_;
  std::vector<std::int32_t> chosen_;  // last first
};

}  // namespace

std::vector<std::int32_t> slice(const Tape& tape, const std::vector<VarId>& roots,
                                const std::set<Site>& given) {
  Slicer slicer(tape, given);
  for (const VarId root : roots) slicer.mark_live(root);
  return slicer.run();
}

bool depends_on(const Tape& tape, VarId var, const std::function<bool(VarId)>& asked) {
  bool found = asked(var);
  for (const std::int32_t index : slice(tape, {var})) {
    if (found) break;
    for_each_variable(tape, tape.call(index), [&](VarId id) { found |= asked(id); });
  }
  return found;
}

bool depends_on_inputs(const Tape& tape, VarId var) {
  return depends_on(tape, var,
                    [&](VarId id) { return tape.variable(id).origin == Variable::Origin::kInput; });
}

bool is_from_outside(const Tape& tape, VarId var) {
  const Variable& variable = tape.variable(var);
  const Store* memory = variable.store == kNoId ? nullptr : &tape.store(variable.store);
  if (memory != nullptr && memory->fresh) return false;
  if (variable.origin == Variable::Origin::kOutside) return true;
  if (variable.origin != Variable::Origin::kResult) return false;
  const Call& call = tape.call(variable.call);
  return call.is_inferred_alias() && call.node == kNoId && memory != nullptr && memory->capture;
}

VarId aliased(const Tape& tape, VarId var) {
  while (var != kNoId && tape.variable(var).call >= 0) {
    const Call& call = tape.call(tape.variable(var).call);
    if (!call.is_inferred_alias()) break;
    var = tape.args_of(call)[0].var;
  }
  return var;
}

bool is_outside_or_fresh(const Tape& tape, VarId var) {
  return tape.variable(var).origin == Variable::Origin::kOutside || is_from_outside(tape, var);
}

VarId root_outside(const Tape& tape, VarId var) {
  const StoreId id = tape.variable(var).store;
  if (id == kNoId || !tape.store(id).capture || tape.store(id).fresh) return kNoId;
  const VarId root = tape.store(id).variables.front();
  return tape.variable(root).origin == Variable::Origin::kOutside ? root : kNoId;
}

bool is_computed_in(const Recording& pass, const Tape& other, VarId var) {
  const c10::TensorImpl* object = other.variable(var).impl._unsafe_get_target();
  const Tape::Match here = pass.tape->match(object, other.tensor(var));
  return here.same_object && pass.tape->variable(here.var).origin == Variable::Origin::kResult &&
         !is_from_outside(*pass.tape, here.var);
}

std::vector<std::int32_t> own_calls(const Recording& recording, NodeId node) {
  std::vector<std::int32_t> calls;
  calls.reserve(static_cast<std::size_t>(recording.end_call - recording.first_call));
  for (std::int32_t i = recording.first_call; i < recording.end_call; ++i) {
    const NodeId owner = recording.tape->call(i).node;
    if (owner == kNoId || owner == node) calls.push_back(i);
  }
  return calls;
}

std::vector<std::int32_t> calls_for(const Recording& recording,
                                    const std::vector<StateSlot>& slots) {
  std::vector<VarId> roots;
  std::set<Site> given;
  for (const Recording::Port& output : recording.outputs) roots.push_back(output.var);
  for (const StateSlot& slot : slots) {
    roots.push_back(slot.after);
    given.insert(slot.sites.begin(), slot.sites.end());
  }
  return slice(*recording.tape, roots, given);
}

VarId variable_at(const Tape& tape, const Site& site) {
  const Arg& arg = tape.args_of(tape.call(site.call))[site.arg];
  if (site.item < 0) return arg.var;
  return site.item < arg.list_size ? tape.list_item(arg.list_begin + site.item) : kNoId;
}

}  // namespace leapp::trace
