#include "state/baked.h"

#include <map>
#include <set>

#include "state/initial.h"
#include "trace/constant.h"
#include "trace/geometry.h"

namespace leapp::state {
namespace {

// Returns whether the content of an external variable changes from pass to pass.
bool changes(const Node& node, std::size_t number, VarId var) {
  const Pass& pass = node.passes[number];
  if (!trace::is_from_outside(pass.tape(), var)) return false;
  if (pass.writes(var)) return true;
  // The previous pass computed it from its inputs, or the program wrote to it since.
  const session::OutsideRead* read = pass.find_outside(var);
  const VarId former = number == 0 || read == nullptr ? kNoId : read->known.at(number - 1).var;
  if (former == kNoId) return false;
  const trace::Tape& before = node.passes[number - 1].tape();
  return trace::depends_on_inputs(before, former) ||
         !trace::same_value(before.content(former), pass.tape().content(var));
}

// Visits the external reads of the exported pass that are not state, with their positions.
template <typename Visit>
void for_each_constant(const NodeStates& states, Visit&& visit) {
  const Pass& pass = states.exported();
  const trace::Tape& tape = pass.tape();
  std::set<trace::Site> given;
  for (const State& state : states.states) {
    given.insert(state.slot.sites.begin(), state.slot.sites.end());
  }
  std::set<trace::StoreId> memory = stores_of(pass, states.states);
  memory.erase(kNoId);
  for (const std::int32_t index : recording_of(states).calls) {
    trace::for_each_site(tape, index, [&](const trace::Site& site, VarId var) {
      if (var == kNoId || given.count(site) > 0) return;
      if (memory.count(tape.variable(var).store) == 0) visit(site, var);
    });
  }
}

// Returns whether memory that a pass only read has changed, although no node wrote to it.
bool was_overwritten(const session::MemoryUse& use) {
  if (use.after || !use.declared.empty() || use.writer || !use.before) return false;
  return use.before->frozen() && !trace::same_value(use.before->content(use.found), use.found);
}

// Returns whether passes ran with different inputs, so that a value that is the same in all of them
// does not depend on them.
bool inputs_vary(const Node& node) {
  const std::vector<at::Tensor>& first = node.passes.front().inputs;
  return std::ranges::any_of(node.passes, [&](const Pass& pass) {
    return !std::ranges::equal(pass.inputs, first, trace::same_value);
  });
}

// Returns whether the variable is an output whose value differs between passes.
bool is_output_that_varies(const Node& node, const Pass& pass, VarId var) {
  const std::vector<trace::Recording::Port>& outputs = pass.recording.outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].var != var) continue;
    const auto differs = [&](const Pass& other) {
      return !trace::same_value(other.outputs.at(i), pass.outputs.at(i));
    };
    if (std::ranges::any_of(node.passes, differs)) return true;
  }
  return false;
}

// Returns the refusal of a value that may have been computed by code that was not recorded.
Diagnostic refuse_foreign(const Node& node, const Pass& pass, const session::BakedValue& value,
                          const Paths& paths) {
  const session::ForeignValue& foreign = *value.foreign;
  const ir::SourceLocation where = trace::resolve_source(value.where);
  const at::Tensor tensor = pass.tape().tensor(value.var);
  const std::string path = paths && tensor.defined() ? paths(tensor) : "";
  if (foreign.written) {
    return finding(Code::kWrittenArray, LogLevel::kError, where, node.name,
                   "node '" + node.name + "' uses " +
                       (path.empty() ? "an array" : "the array '" + path + "'") +
                       " of the program that NumPy or compiled code wrote to in place while the "
                       "node ran. LEAPP does not see all such writes, so its value would be wrong "
                       "in later ticks. If NumPy writes it and it keeps a value between ticks, "
                       "declare it with annotate.register_buffer() and use the array that this "
                       "returns. Otherwise write to a copy that np.array() makes in the node. If "
                       "compiled code writes it, such as numba or MuJoCo, compute it outside the "
                       "node and pass it through annotate.input_tensors().");
  }
  const std::string left = foreign.left_at.empty()
                               ? ""
                               : " A traced value became a NumPy array at " + foreign.left_at +
                                     ", and other code may have computed this one from it.";
  return finding(
      Code::kForeignValue, LogLevel::kError, where, node.name,
      "node '" + node.name + "' uses a NumPy array that no recorded operation computed." + left +
          " As a constant it could be wrong. Compute it with PyTorch, or with NumPy from traced "
          "arrays only, or pass it through annotate.input_tensors(). If it keeps a value between "
          "ticks, declare it with annotate.register_buffer()." +
          (inputs_vary(node) ? ""
                             : " If it is a constant, create it before the node opens, or trace a "
                               "second pass with other inputs."));
}

// Returns the refusal, unless passes with different inputs show that the value is a constant.
std::optional<Diagnostic> judge_foreign(const NodeStates& states, const session::BakedValue& value,
                                        const Paths& paths) {
  const bool differs = value.foreign->written || !states.differences.empty() ||
                       is_output_that_varies(*states.node, states.exported(), value.var);
  if (inputs_vary(*states.node) && !differs) return std::nullopt;
  return refuse_foreign(*states.node, states.exported(), value, paths);
}

}  // namespace

Findings find_escapes(const Node& node, const Followed& followed) {
  Findings findings;
  for (std::size_t i = 0; i < node.passes.size(); ++i) {
    for (const session::Escape& escape : node.passes[i].escapes) {
      const auto varies = [&](VarId var) {
        return changes(node, i, var) || (i == 0 && followed.changes(var));
      };
      if (trace::only_shown(escape.where)) continue;
      if (trace::depends_on(node.passes[i].tape(), escape.var, varies)) {
        findings.push_back(warning(escape.code, escape.where, node.name, escape.text));
      }
    }
  }
  return findings;
}

Findings find_baked(const NodeStates& states, std::span<const Node* const> nodes,
                    const Paths& paths) {
  Findings findings;
  const std::vector<session::BakedValue>& baked = states.exported().baked;
  if (baked.empty()) return findings;
  const std::set<trace::StoreId> state_memory = stores_of(states.exported(), states.states);
  std::set<VarId> constants;
  for_each_constant(states, [&](const trace::Site&, VarId var) { constants.insert(var); });
  for (const trace::Recording::Port& output : states.exported().recording.outputs) {
    constants.insert(output.var);
  }
  const std::string& node = states.node->name;
  const trace::Tape& tape = states.exported().tape();
  for (const session::BakedValue& value : baked) {
    const bool is_state = value.foreign && value.foreign->written &&
                          state_memory.count(tape.variable(value.var).store) > 0;
    if (constants.count(value.var) == 0 && !is_state) continue;
    if (value.foreign) {
      const session::MemoryUse* use = states.exported().find_memory(value.var);
      if (use != nullptr && !use->declared.empty()) continue;
      if (auto refusal = judge_foreign(states, value, paths)) findings.push_back(*refusal);
      continue;
    }
    if (!value.random.empty()) {
      findings.push_back(warning(Code::kRandomOutside, value.where, node,
                                 value.random + " drew random numbers that node '" + node +
                                     "' uses. The numbers drawn now are exported as a constant. If "
                                     "they change, pass them through annotate.input_tensors()."));
      continue;
    }
    const Node* from = find_node(nodes, value.source.node);
    const std::string& name = from == nullptr ? node : from->name;
    const std::string& port = value.source.port;
    findings.push_back(warning(
        Code::kForgottenInput, value.where, node,
        "node '" + node + "' uses a value of node '" + name + "'" +
            (port.empty() ? "" : " (" + name + "/" + port + ")") +
            " without declaring it as an input. Its current value is exported as a constant. " +
            (port.empty() ? "Add it to the outputs of '" + name + "', and pass" : "Pass") +
            " it through annotate.input_tensors()."));
  }
  return findings;
}

Findings find_undeclared(const NodeStates& states, std::span<const Node* const> nodes,
                         const Paths& paths) {
  Findings findings;
  if (!states.differences.empty()) return findings;  // differences between passes show it
  const bool once = states.node->completed == 1;
  const std::string& name = states.node->name;
  const trace::Tape& tape = states.exported().tape();
  std::map<trace::StoreId, std::pair<Code, std::string>> suspects;
  for (const session::MemoryUse& use : states.exported().memory) {
    const trace::StoreId store = tape.variable(use.var).store;
    const std::string sensor = use.copy_of ? find_sensor(nodes, use.copy_of.get())
                               : once      ? find_sensor(nodes, trace::begin_of(use.found))
                                           : "";
    if (!sensor.empty()) {
      suspects[store] = {Code::kForgottenInput,
                         (use.copy_of ? " that is a copy of what '" : " that '") + sensor +
                             "' received, without declaring it as an input. Its current value is "
                             "exported as a constant."};
    } else if (was_overwritten(use)) {
      suspects[store] = {Code::kReplaced,
                         " that the program changed after the last traced pass of the node. Its "
                         "earlier value is exported as a constant."};
    }
  }
  if (suspects.empty()) return findings;  // the case for nearly every node
  for_each_constant(states, [&](const trace::Site& site, VarId var) {
    const auto suspect = suspects.find(tape.variable(var).store);
    if (suspect == suspects.end()) return;
    const auto& [code, why] = suspect->second;
    findings.push_back(
        warning(code, tape.call(site.call).frame, name,
                "node '" + name + "': " + describe_read(tape, site, tape.tensor(var), paths) + why +
                    " Pass it through annotate.input_tensors(), or trace another pass to see "
                    "whether it is state."));
    findings.back().settled_by_another_pass = true;
    suspects.erase(suspect);
  });
  return findings;
}

std::optional<Diagnostic> find_foreign(const Node& node, const Paths& paths) {
  for (const Pass& pass : node.passes) {
    for (const session::BakedValue& value : pass.baked) {
      if (value.foreign) return refuse_foreign(node, pass, value, paths);
    }
  }
  return std::nullopt;
}

}  // namespace leapp::state
