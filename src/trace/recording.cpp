#include "trace/recording.h"

#include <algorithm>

#include "trace/op_traits.h"

namespace leapp::trace {
namespace {

class Slicer {
 public:
  explicit Slicer(const Tape& tape)
      : tape_(tape), vars_(tape.variable_count(), false), stores_(tape.store_count(), false) {}

  void mark_live(VarId var) {
    if (var == kNobody) return;
    vars_[static_cast<std::size_t>(var)] = true;
    const StoreId store = tape_.variable(var).store;
    if (store != kNobody) stores_[static_cast<std::size_t>(store)] = true;
  }

  std::vector<std::int32_t> run() {
    std::vector<std::int32_t> chosen;
    for (auto i = static_cast<std::int32_t>(tape_.calls().size()) - 1; i >= 0; --i) {
      const Call& call = tape_.calls()[static_cast<std::size_t>(i)];
      if (!defines_live(call, i)) continue;
      chosen.push_back(i);
      for_each_tensor_argument(call, [&](VarId var, bool) { mark_live(var); });
    }
    std::reverse(chosen.begin(), chosen.end());
    return chosen;
  }

 private:
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
    const CallResult* results = tape_.results_of(call);
    const std::size_t count = call.op.schema().returns().size();
    for (std::size_t i = 0; i < count; ++i) {
      if (!results[i].is_tensor) continue;
      if (is_live_definition(results[i].var, index)) return true;
      for (std::int32_t k = 0; k < results[i].list_size; ++k) {
        if (is_live_definition(tape_.list_item(results[i].list_begin + k), index)) return true;
      }
    }
    bool writes_live = false;
    for_each_tensor_argument(call, [&](VarId var, bool writes) {
      if (!writes || var == kNobody) return;
      const StoreId store = tape_.variable(var).store;
      writes_live |= store == kNobody ? vars_[static_cast<std::size_t>(var)]
                                      : stores_[static_cast<std::size_t>(store)];
    });
    return writes_live;
  }

  // The call that produced a result defines it, not those that return it again after a write.
  bool is_live_definition(VarId var, std::int32_t call) const {
    return var != kNobody && vars_[static_cast<std::size_t>(var)] &&
           tape_.variable(var).call == call;
  }

  const Tape& tape_;
  std::vector<bool> vars_;
  std::vector<bool> stores_;
};

}  // namespace

std::vector<std::int32_t> slice(const Tape& tape, const std::vector<VarId>& roots) {
  Slicer slicer(tape);
  for (const VarId root : roots) slicer.mark_live(root);
  return slicer.run();
}

bool depends_on(const Tape& tape, VarId var, const std::function<bool(VarId)>& asked) {
  bool found = asked(var);
  for (const std::int32_t index : slice(tape, {var})) {
    if (found) break;
    for_each_variable(tape, tape.calls()[static_cast<std::size_t>(index)],
                      [&](VarId id) { found |= asked(id); });
  }
  return found;
}

bool depends_on_inputs(const Tape& tape, VarId var) {
  return depends_on(tape, var,
                    [&](VarId id) { return tape.variable(id).origin == Variable::Origin::kInput; });
}

std::vector<VarId> roots_of(const Recording& recording) {
  std::vector<VarId> roots;
  for (const Recording::Port& output : recording.outputs) roots.push_back(output.var);
  for (const StateCandidate& state : recording.states) {
    if (state.after != kNobody) roots.push_back(state.after);
  }
  return roots;
}

}  // namespace leapp::trace
