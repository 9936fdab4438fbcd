#include "state/delayed.h"

#include "base/check.h"
#include "base/find.h"
#include "state/names.h"
#include "trace/constant.h"

namespace leapp::state {
namespace {

int ticks_back(const Node& to, const NodePort& port, std::span<const Node* const> nodes) {
  const Node* from = port.source ? find_node(nodes, port.source->node) : nullptr;
  return from == nullptr ? 0 : delay_of(to, port, *from);
}

// "input 'a2' of node 'pi' receives pi/a of 2 ticks ago"
std::string describe(const Node& node, const NodePort& port, std::span<const Node* const> nodes) {
  return "input '" + port.name + "' of node '" + node.name + "' receives " +
         find_node(nodes, port.source->node)->name + "/" + port.source->port + " of " +
         std::to_string(ticks_back(node, port, nodes)) + " ticks ago";
}

// The value of the input before it first received one; earlier passes may have run alone.
void check_passes(const Node& node, const NodePort& port, std::span<const Node* const> nodes) {
  const int needed = std::max(port.age.first().pass, ticks_back(node, port, nodes));
  const std::size_t kept = node.passes.size();
  require(kept >= static_cast<std::size_t>(needed), Code::kDelayTooLong,
          trace::line_prefix(port.age.first().where) + describe(node, port, nodes) +
              ", but its initial values are known only for the first " + std::to_string(kept) +
              (kept == 1 ? " pass" : " passes") +
              ". Call leapp.start(max_cached_io=" + std::to_string(needed) +
              "), or keep the past values as state of the node with annotate.state_tensors().");
}

// Returns the state that keeps the source's output of `age` ticks ago, given the state with one
// tick less.
std::size_t link(NodeStates& states, const NodePort& port, int delay, int age, State::Feed feed) {
  const Node& node = *states.node;
  const auto index = static_cast<std::size_t>(&port - node.inputs.data());
  // The first pass in which the input has the value that the link has before the first tick.
  const auto until = static_cast<std::size_t>(std::max(port.age.first().pass, delay) - age);
  State state = {.origin = State::Origin::kDelayed, .fed_by = std::move(feed)};
  for (std::size_t i = 0; i < node.passes.size(); ++i) {
    // A value that no input has received yet is treated like the others.
    const std::size_t last = node.passes.size() - 1;
    const at::Tensor value = node.passes[std::min(i + until, last)].inputs.at(index);
    state.per_pass.push_back({value, value});
  }
  state.slot.value = state.per_pass.front().before;
  const State* known = find_where(states.states, [&](const State& other) {
    return other.origin == state.origin && other.fed_by == state.fed_by &&
           trace::same_value(other.slot.value, state.slot.value);
  });
  if (known != nullptr) return static_cast<std::size_t>(known - states.states.data());
  state.slot.name =
      unused_name(node, states.states, port.source->port + "_" + std::to_string(age) + "_ago");
  states.states.push_back(std::move(state));
  return states.states.size() - 1;
}

}  // namespace

bool is_from_constant(const NodePort& input, const Node& from) {
  const NodePort* output = find_port(from.outputs, input.source->port);
  return output != nullptr && output->is_static;
}

int delay_of(const Node& to, const NodePort& input, const Node& from) {
  const int least = from.completion < to.completion ? 0 : 1;
  return is_from_constant(input, from) ? least : input.age.delay(least);
}

void add_delays(NodeStates& states, const std::vector<std::string>& used,
                std::span<const Node* const> nodes, Findings& findings) {
  const Node& node = *states.node;
  for (const std::string& name : used) {
    const NodePort* port = find_port(node.inputs, name);
    const int delay = port == nullptr ? 0 : ticks_back(node, *port, nodes);
    if (delay <= 1) continue;
    check_passes(node, *port, nodes);
    State::Feed feed = {port->source->node, port->source->port, {}};
    for (int age = 1; age < delay; ++age) {
      feed = {node.id, {}, link(states, *port, delay, age, std::move(feed))};
    }
    states.received[name] = *feed.state;
    findings.push_back(finding(Code::kFoundState, LogLevel::kInfo,
                               trace::resolve_source(port->age.first().where), node.name,
                               describe(node, *port, nodes) + ", which '" +
                                   states.states[*feed.state].slot.name + "' keeps until then"));
  }
}

void refuse_delays(const Node& node, std::span<const Node* const> nodes) {
  for (const NodePort& port : node.inputs) {
    if (ticks_back(node, port, nodes) <= 1) continue;
    throw Error(
        Code::kDelayOfOwnModel,
        trace::line_prefix(port.age.first().where) + describe(node, port, nodes) +
            ", but LEAPP cannot add state to a model of your own to keep it. Keep the past values "
            "in a traced node with annotate.state_tensors() and return them as an output.");
  }
}

}  // namespace leapp::state
