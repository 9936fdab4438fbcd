#include "session/carried_states.h"

#include <ATen/ops/equal.h>

#include <algorithm>

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

std::string unused_name(const Node& node) {
  const auto taken = [&](const std::string& name) {
    const auto is_it = [&](const auto& port) { return port.name == name; };
    return std::any_of(node.inputs.begin(), node.inputs.end(), is_it) ||
           std::any_of(node.outputs.begin(), node.outputs.end(), is_it) ||
           std::any_of(node.states.begin(), node.states.end(), is_it) ||
           std::any_of(node.recording.states.begin(), node.recording.states.end(), is_it);
  };
  for (std::size_t n = node.recording.states.size();; ++n) {
    const std::string name = "state_" + std::to_string(n);
    if (!taken(name)) return name;
  }
}

void add_states(Node& node, const std::vector<Node*>& nodes, const Carried::Findings& findings,
                std::vector<CarriedFeed>& feeds) {
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
    const std::string name = own ? recording.states[index].name : unused_name(node);
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
    for (std::size_t k = 0; k < node.samples.size() && k < state.found.size(); ++k) {
      node.samples[k].states_before[name] = state.found[k];
      node.samples[k].states_after.erase(name);
      if (k + 1 < state.found.size()) node.samples[k].states_after[name] = state.found[k + 1];
    }
  }
}

}  // namespace

std::vector<CarriedFeed> add_carried_states(const std::vector<Node*>& nodes,
                                            std::vector<std::string>& warnings) {
  std::vector<CarriedFeed> feeds;
  for (Node* node : nodes) {
    if (node->samples.size() < 2) continue;
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
    add_states(*node, nodes, findings, feeds);
  }
  return feeds;
}

}  // namespace leapp::session
