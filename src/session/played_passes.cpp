#include "session/played_passes.h"

#include <algorithm>

#include "trace/op_traits.h"

namespace leapp::session {
namespace {

using trace::Tape;
using trace::Variable;

// Finds the variables of the pass that are results of the former one.
class Matcher {
 public:
  Matcher(const Tape& tape, Tape& former) : tape_(tape), former_(former) {}

  // Adds the variable to taken(), if it is such a result.
  void look_at(VarId var) {
    if (var == kNoId || taken_.contains(var) || !trace::is_from_outside(tape_, var)) return;
    const Variable& variable = tape_.variable(var);
    auto object = variable.impl.lock();
    const at::Tensor tensor = object ? at::Tensor(std::move(object)) : variable.held;
    if (!tensor.defined()) return;
    const Tape::Match match = former_.match(variable.impl._unsafe_get_target(), tensor);
    if (match.var == kNoId || match.rewritten) return;
    if (former_.variable(match.var).origin == Variable::Origin::kResult) taken_[var] = match.var;
  }

  const std::map<VarId, VarId>& taken() const { return taken_; }

 private:
  const Tape& tape_;
  Tape& former_;
  std::map<VarId, VarId> taken_;
};

}  // namespace

std::optional<PlayedPass> find_played(SessionData& data, const SessionNode& node,
                                      const NamedTensors& tensors, const OutputOptions& options) {
  const Pass& open = node.pass.record;
  const bool keeps_state = !open.states.empty() || !node.pass.buffer_queries.empty();
  if (!node.pass.recorded || !node.latest || keeps_state || !options.static_outputs.empty()) {
    return std::nullopt;
  }
  Tape& tape = *data.tape;
  for (std::int32_t i = open.recording.first_call; i < tape.call_count(); ++i) {
    if (tape.call(i).node == node.id) return std::nullopt;  // it computes from its inputs
  }
  PlayedPass played{.number = node.completed, .source = node.passes.size() - 1};
  played.recording.tape = open.recording.tape;
  std::vector<VarId> roots;
  for (const TensorSemantics& entry : tensors) {
    if (!entry.ref.defined()) return std::nullopt;
    const auto known = tape.find(entry.ref);
    roots.push_back(known ? *known : tape.use(entry.ref));
    played.recording.outputs.push_back({entry.name, roots.back()});
  }
  played.recording.calls = trace::slice(tape, roots);
  Matcher matcher(tape, *node.latest);
  for (const VarId root : roots) matcher.look_at(root);
  for (const std::int32_t index : played.recording.calls) {
    if (trace::traits_of(tape.call(index).op).mutates) return std::nullopt;
    trace::for_each_variable(tape, tape.call(index), [&](VarId var) { matcher.look_at(var); });
  }
  played.taken = matcher.taken();
  const auto is_taken = [&](VarId var) { return played.taken.contains(var); };
  for (const VarId root : roots) {
    if (trace::depends_on_inputs(tape, root)) return std::nullopt;
    if (!trace::depends_on(tape, root, is_taken)) return std::nullopt;
  }
  for (const TensorSemantics& entry : tensors) played.outputs.push_back(trace::copy_of(entry.ref));
  return played;
}

bool has_enough_passes(const SessionData& data, const SessionNode& node) {
  return node.computed > data.options.max_cached_io;
}

}  // namespace leapp::session
