#include "state/infer.h"

#include <algorithm>

#include "base/check.h"
#include "state/baked.h"
#include "state/first_tick.h"
#include "state/initial.h"
#include "state/shared.h"

namespace leapp::state {
namespace {

void append(Findings& findings, Findings more) {
  std::ranges::move(more, std::back_inserter(findings));
}

// Results from the passes of one node alone.
NodeStates infer_alone(const Subject& subject, Findings& findings) {
  const Node& node = subject.node;
  Carried carried = find_carried(subject);
  append(findings, find_escapes(node, carried.followed));
  const std::vector<Difference> differences = compare_passes(subject, carried);
  std::optional<Carried> first = find_first_tick(subject, differences);
  if (first && !first->in_doubt) {
    findings.push_back(
        warning(Code::kFirstTick, differences.front().where, node.name,
                "the first pass of node '" + node.name +
                    "' differs from the later ones, which agree. The exported node runs the code "
                    "of that pass in its first tick and in the first tick after reset(). If the "
                    "program also runs it at other times, use torch.where()."));
    carried = std::move(*first);
  } else {
    const std::string advice = first ? "; if only the first tick differs, trace " +
                                           std::to_string(first->passes) + " passes or more"
                                     : "";
    for (const Difference& each : differences) {
      carried.kept.differences.push_back(
          warning(Code::kPassesDiffer, each.where, node.name, each.text + advice));
    }
  }
  append(findings, std::move(carried.findings));
  return std::move(carried.kept);
}

// Leaves out findings at a line that another finding already names.
Findings unnamed(const Findings& differences, const Findings& named) {
  Findings rest;
  for (const Diagnostic& each : differences) {
    const auto names = [&](const Diagnostic& other) {
      return other.node == each.node && other.where == each.where &&
             (other.code == Code::kUnknownSource || other.code == Code::kForgottenInput);
    };
    if (std::ranges::none_of(named, names)) rest.push_back(each);
  }
  return rest;
}

// All states are known here, so outputs that depend on no state and no input are constants.
void check_undecided(const NodeStates& states, const Paths& paths) {
  const Node& node = *states.node;
  const trace::Tape& tape = states.exported().tape();
  std::set<VarId> kept;  // as the pass reads them
  for (const State& state : states.states) {
    if (!state.slot.sites.empty() || state.slot.is_left()) kept.insert(states.read_as(state));
  }
  const auto varies = [&](VarId var) {
    return tape.variable(var).origin == trace::Variable::Origin::kInput || kept.count(var) > 0;
  };
  for (const trace::Recording::Port& output : states.exported().recording.outputs) {
    if (node.undecided.count(output.name) == 0) continue;
    if (trace::depends_on(tape, output.var, varies)) continue;
    if (const auto foreign = find_foreign(node, paths)) {
      throw Error(foreign->code,
                  (foreign->where.empty() ? "" : foreign->where + ": ") + foreign->text);
    }
    throw Error(Code::kNotTraced,
                trace::line_prefix(states.exported().opened_at) +
                    session::not_traced_text(node.name, output.name) +
                    (node.passes.size() < 2 ? " If it is state, trace a second pass." : ""));
  }
}

// Names undeclared state after its path in the program, and buffers after their declaration. A
// buffer may have the name of a port.
void name_states(NodeStates& states, const Paths& paths) {
  const trace::Tape& tape = states.exported().tape();
  for (State& state : states.states) {
    if (state.origin == State::Origin::kDeclared) {
      const std::string declared = std::exchange(state.slot.name, "");
      state.slot.name = unused_name(*states.node, states.states, declared);
    }
    if (!state.slot.name.empty()) continue;
    const VarId var = states.read_as(state);
    const at::Tensor first = var == kNoId ? at::Tensor() : tape.tensor(var);
    const std::string wish = first.defined() && paths ? identifier_of(paths(first)) : std::string();
    const auto number = static_cast<std::size_t>(&state - states.states.data());
    state.slot.name = unused_name(*states.node, states.states,
                                  wish.empty() ? "state_" + std::to_string(number) : wish);
  }
  for (std::size_t i = 0; i < states.opening.size(); ++i) {
    states.opening[i].name = states.states[i].slot.name;
  }
}

}  // namespace

Inference infer_states(std::span<const Node* const> exported, std::span<const Node* const> all,
                       const Paths& paths) {
  Inference done;
  append(done.findings, find_initial(all));
  std::vector<NodeStates> alone;
  std::vector<std::vector<WrittenPass>> written;
  for (const Node* node : exported) {
    written.push_back(written_in(*node));
    alone.push_back(infer_alone({*node, written.back(), exported, paths}, done.findings));
  }
  done.nodes = find_shared(std::move(alone), written, done.findings);
  for (NodeStates& states : done.nodes) {
    std::ranges::move(more_written(states), std::back_inserter(states.states));
    const Findings baked = find_baked(states, all, paths);
    const auto is_foreign = [](const Diagnostic& each) { return each.level == LogLevel::kError; };
    // A refused array often differs between passes too; one message about it is enough.
    if (std::ranges::none_of(baked, is_foreign)) {
      append(done.findings, unnamed(states.differences, done.findings));
    }
    append(done.findings, baked);
    if (std::ranges::none_of(baked, is_foreign)) check_undecided(states, paths);
  }
  for (NodeStates& states : done.nodes) {
    append(done.findings, find_undeclared(states, all, paths));
    name_states(states, paths);
  }
  return done;
}

}  // namespace leapp::state
