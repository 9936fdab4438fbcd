#include "session/carried_states.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <set>

#include "session/session_lock.h"

namespace leapp::session {
namespace {

using Kind = trace::StateCandidate::Kind;

const Node* node_called(const std::vector<Node*>& nodes, NodeId id) {
  const auto it = std::find_if(nodes.begin(), nodes.end(), [&](Node* n) { return n->id == id; });
  return it == nodes.end() ? nullptr : *it;
}

// Whether each pass found what the output of the other node was in the tick before.
bool holds_outputs_of(const Node& from, const std::string& port, const Node& to,
                      const std::vector<at::Tensor>& found) {
  const auto it = std::find_if(from.outputs.begin(), from.outputs.end(),
                               [&](const NodePort& p) { return p.name == port; });
  if (it == from.outputs.end() || from.completion <= to.completion) return false;
  const auto index = static_cast<std::size_t>(it - from.outputs.begin());
  if (from.samples.size() + 1 < found.size()) return false;
  for (std::size_t k = 1; k < found.size(); ++k) {
    const at::Tensor& put_out = from.samples[k - 1].outputs.at(index);
    if (put_out.sizes() != found[k].sizes() || put_out.scalar_type() != found[k].scalar_type() ||
        !at::equal(put_out, found[k])) {
      return false;
    }
  }
  return true;
}

// Memory that is made anew for every pass: what it held at first is a constant.
void drop_state(trace::Recording& recording, std::int32_t candidate) {
  trace::StateCandidate& state = recording.states[static_cast<std::size_t>(candidate)];
  state.before = recording.tape->add_outside(recording.tape->content(state.before).clone(), true);
  state.after = kNobody;
}

std::string unused_name(const Node& node, const std::string& wish) {
  const auto taken = [&](const std::string& name) {
    const auto is_it = [&](const auto& port) { return port.name == name; };
    return std::any_of(node.inputs.begin(), node.inputs.end(), is_it) ||
           std::any_of(node.outputs.begin(), node.outputs.end(), is_it) ||
           std::any_of(node.states.begin(), node.states.end(), is_it) ||
           std::any_of(node.recording.states.begin(), node.recording.states.end(), is_it);
  };
  if (!wish.empty() && !taken(wish)) return wish;
  for (std::size_t n = node.recording.states.size();; ++n) {
    const std::string name = "state_" + std::to_string(n);
    if (!taken(name)) return name;
  }
}

// `first_sample`: of the pass that `findings` begin with.
void add_states(Node& node, const std::vector<Node*>& nodes, const Carried::Findings& findings,
                std::size_t first_sample, std::vector<CarriedFeed>& feeds) {
  trace::Recording& recording = node.recording;
  std::vector<VarId> before;
  for (const Carried::State& state : findings.states) {
    if (state.candidate >= 0) {
      before.push_back(recording.states[static_cast<std::size_t>(state.candidate)].before);
      continue;
    }
    before.push_back(recording.tape->add_outside(state.value, true));
    for (const std::int32_t site : state.sites) node.carried.redirect(site, before.back());
  }
  for (std::size_t i = 0; i < findings.states.size(); ++i) {
    const Carried::State& state = findings.states[i];
    const bool own = state.candidate >= 0;
    const auto index = own ? static_cast<std::size_t>(state.candidate) : recording.states.size();
    const std::string name = own ? recording.states[index].name : unused_name(node, "");
    VarId after = state.same_as_state ? before[*state.same_as_state] : state.source.var;
    const CarriedPort& port = state.source.port;
    const bool fed = port.node != kNobody && port.node != node.id;
    if (port.node == node.id) {
      for (const auto& output : recording.outputs) {
        if (output.name == port.port) after = output.var;
      }
    }
    if (fed) feeds.push_back({&node, index, node_called(nodes, port.node), port.port});
    if (!own) recording.states.emplace_back();
    recording.states[index] = {Kind::kCarried, name, before[i], after, fed};
    for (std::size_t k = 0; k < state.found.size(); ++k) {
      if (k + first_sample >= node.samples.size()) break;
      Sample& sample = node.samples[k + first_sample];
      sample.states_before[name] = state.found[k];
      sample.states_after.erase(name);
      if (k + 1 < state.found.size()) sample.states_after[name] = state.found[k + 1];
    }
  }
}

// Which value of the first pass a state has become, on its tape.
std::optional<VarId> left_by_first_pass(const Node& node, const Carried::State& state) {
  const trace::Tape& second = *node.later.recording.tape;
  if (state.initial == kNobody || state.source.delay != 1 || state.candidate >= 0) {
    return std::nullopt;
  }
  const trace::Variable& read = second.variable(state.initial);
  if (read.origin != trace::Variable::Origin::kOutside) return std::nullopt;
  return node.recording.tape->known(read.impl._unsafe_get_target(), read.held);
}

// Values of the first pass that later ones read and never replace, such as an offset that is taken
// once: the variable that it was on the first tape, and that it is on the second.
std::vector<std::pair<VarId, VarId>> kept_from_first_pass(const Node& node,
                                                          const Carried::Findings& findings) {
  trace::Tape& first = *node.recording.tape;
  const trace::Recording& second = node.later.recording;
  std::set<VarId> seen;
  std::vector<VarId> roots = trace::roots_of(second);
  for (const Carried::State& state : findings.states) {
    seen.insert(state.initial);
    roots.push_back(state.source.var);
  }
  std::vector<std::pair<VarId, VarId>> kept;
  for (const std::int32_t index : trace::slice(*second.tape, roots)) {
    const trace::Call& call = second.tape->calls()[static_cast<std::size_t>(index)];
    trace::for_each_variable(*second.tape, call, [&](VarId var) {
      const trace::Variable& read = second.tape->variable(var);
      if (read.origin != trace::Variable::Origin::kOutside || !seen.insert(var).second) return;
      const auto made = first.known(read.impl._unsafe_get_target(), read.held);
      if (made && trace::depends_on_inputs(first, *made)) kept.emplace_back(*made, var);
    });
  }
  return kept;
}

bool have_the_same_states(const trace::Recording& one, const trace::Recording& other) {
  return std::equal(one.states.begin(), one.states.end(), other.states.begin(), other.states.end(),
                    [](const auto& a, const auto& b) {
                      const bool given = a.kind == Kind::kExplicit || a.kind == Kind::kDeclared;
                      return given && a.kind == b.kind && a.name == b.name;
                    });
}

bool uses_memory_of_others(const Node& node) {
  return std::any_of(node.samples.begin(), node.samples.end(), [](const Sample& sample) {
    return std::any_of(sample.memory.begin(), sample.memory.end(), [](const MemoryUse& use) {
      return use.state.empty() && (use.after || use.writer);
    });
  });
}

// Takes the first pass for a tick of its own kind, if those after it agree with each other. A flag,
// which is state as well, tells it from the others.
bool set_opening_apart(Node& node, const std::vector<Node*>& nodes, std::vector<CarriedFeed>& feeds,
                       std::vector<std::string>& warnings) {
  if (!node.later.recording.tape || node.samples.size() < 3 || !node.later.notes.empty()) {
    return false;
  }
  if (node.read_values) return false;
  // Where nothing but a constant differs, more likely it changes now and then.
  const auto is_constant = [](const Note& note) { return note.constant; };
  if (std::any_of(node.notes.begin(), node.notes.end(), is_constant)) return false;
  if (!have_the_same_states(node.recording, node.later.recording) || uses_memory_of_others(node)) {
    return false;
  }
  const Carried::Findings findings = node.later.carried.find(node.later.recording);
  if (!findings.doubts.empty() || !findings.renewed.empty()) return false;
  std::vector<VarId> left;
  for (const Carried::State& state : findings.states) {
    const bool own = state.source.port.node == kNobody || state.source.port.node == node.id;
    const auto var = left_by_first_pass(node, state);
    if (!own || !var) return false;
    left.push_back(*var);
  }
  const std::vector<std::pair<VarId, VarId>> kept = kept_from_first_pass(node, findings);
  trace::Recording opening = std::move(node.recording);
  node.recording = node.later.recording;
  node.carried = node.later.carried;
  warnings.push_back(trace::line_prefix(node.notes.front().where) + "the first pass of node '" +
                     node.name +
                     "' is not like those after it, which agree with each other: the exported node "
                     "does in its first tick, and in the first after reset(), what that pass did. "
                     "If the program does so at other times too, choose with torch.where().");
  node.notes.clear();
  const std::size_t known = node.recording.states.size();
  add_states(node, nodes, findings, 1, feeds);
  Sample& first = node.samples.front();
  for (std::size_t i = 0; i < findings.states.size(); ++i) {
    // What the flag keeps from being used.
    const at::Tensor nothing = at::zeros_like(findings.states[i].found.front());
    const std::string& name = node.recording.states[known + i].name;
    opening.states.push_back(
        {Kind::kCarried, name, opening.tape->add_outside(nothing, true), left[i]});
    first.states_before[name] = nothing;
    first.states_after[name] = findings.states[i].found.front();
  }
  for (const auto& [made, read] : kept) {
    const at::Tensor value = copy_of(node.recording.tape->content(read));
    const at::Tensor nothing = at::zeros_like(value);
    const std::string name = unused_name(node, "");
    opening.states.push_back(
        {Kind::kCarried, name, opening.tape->add_outside(nothing, true), made});
    node.recording.states.push_back({Kind::kCarried, name, read, read});
    for (Sample& sample : node.samples) {
      sample.states_before[name] = &sample == &first ? nothing : value;
      sample.states_after[name] = value;
    }
  }
  const at::Device device = first.outputs.empty() ? at::kCPU : first.outputs.front().device();
  const at::Tensor yes = at::ones({}, at::TensorOptions(at::kBool).device(device));
  const at::Tensor no = at::zeros_like(yes);
  const std::string flag = unused_name(node, "first_tick");
  for (trace::Recording* recording : {&opening, &node.recording}) {
    recording->states.push_back({Kind::kCarried, flag, recording->tape->add_outside(yes, true),
                                 recording->tape->add_outside(no, true)});
  }
  for (Sample& sample : node.samples) {
    sample.states_before[flag] = &sample == &first ? yes : no;
    sample.states_after[flag] = no;
  }
  opening.calls = trace::slice(*opening.tape, trace::roots_of(opening));
  node.opening = std::move(opening);
  return true;
}

}  // namespace

std::vector<CarriedFeed> add_carried_states(const std::vector<Node*>& nodes,
                                            std::vector<std::string>& warnings) {
  std::vector<CarriedFeed> feeds;
  for (Node* node : nodes) {
    if (node->samples.size() < 2 || set_opening_apart(*node, nodes, feeds, warnings)) continue;
    const Carried::Findings findings = node->carried.find(node->recording);
    for (const std::string& doubt : findings.doubts) {
      warnings.push_back("node '" + node->name + "': " + doubt);
    }
    for (const std::string& note : findings.notes) {
      warnings.push_back("node '" + node->name + "': " + note);
    }
    for (const std::int32_t candidate : findings.renewed) drop_state(node->recording, candidate);
    if (!findings.doubts.empty() || findings.states.empty()) continue;
    const auto is_sound = [&](const Carried::State& state) {
      const CarriedPort& port = state.source.port;
      if (port.node == kNobody || port.node == node->id) return true;
      const Node* from = node_called(nodes, port.node);
      return from != nullptr && holds_outputs_of(*from, port.port, *node, state.found);
    };
    if (!std::all_of(findings.states.begin(), findings.states.end(), is_sound)) {
      warnings.push_back("node '" + node->name +
                         "' reads an output of another node that is not among its inputs, and not "
                         "always that of the tick before: its first value is exported as a "
                         "constant. Pass it through annotate.input_tensors().");
      continue;
    }
    add_states(*node, nodes, findings, 0, feeds);
  }
  return feeds;
}

}  // namespace leapp::session
