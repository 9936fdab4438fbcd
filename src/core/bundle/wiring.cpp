#include "bundle/wiring.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <string_view>
#include <unordered_map>

#include "base/check.h"
#include "base/utf8.h"
#include "bundle/rules.h"

namespace leapp {
namespace {

using Connection = Wiring::Connection;

/// Finds the ports that wires name.
class PortFinder {
 public:
  PortFinder(const Bundle& bundle, const RuleReporter& reporter) : reporter_(reporter) {
    for (std::size_t i = 0; i < bundle.models.size(); ++i) {
      const Model& model = bundle.models[i];
      nodes_[model.name] = i;
      add(model.inputs, inputs_.emplace_back());
      add(model.outputs, outputs_.emplace_back());
    }
  }

  PortIndex input(const PortRef& ref, const FieldPath& path) const {
    return find(inputs_, "input", ref, path);
  }
  PortIndex output(const PortRef& ref, const FieldPath& path) const {
    return find(outputs_, "output", ref, path);
  }

 private:
  using Names = std::unordered_map<std::string_view, std::size_t>;

  static void add(const std::vector<Port>& ports, Names& names) {
    for (std::size_t i = 0; i < ports.size(); ++i) names[ports[i].name] = i;
  }

  PortIndex find(const std::vector<Names>& ports, const char* side, const PortRef& ref,
                 const FieldPath& path) const {
    const auto node = nodes_.find(ref.node);
    if (node == nodes_.end()) {  // B15
      reporter_.fail(rule(15), path, "there is no model " + quote_for_message(ref.node));
    }
    const Names& names = ports[node->second];
    const auto port = names.find(ref.port);
    if (port == names.end()) {  // B15
      reporter_.fail(rule(15), path,
                     "the model " + quote_for_message(ref.node) + " has no " + side + " " +
                         quote_for_message(ref.port));
    }
    return {node->second, port->second};
  }

  const RuleReporter& reporter_;
  Names nodes_;
  std::vector<Names> inputs_;  // by node
  std::vector<Names> outputs_;
};

std::vector<Connection> connect(const Bundle& bundle, const RuleReporter& reporter) {
  const PortFinder ports(bundle, reporter);
  std::vector<Connection> connections;
  const auto add = [&](const char* flow, const std::vector<Wire>& wires, bool last_tick) {
    for (const Wire& wire : wires) {
      const FieldPath path = {"pipeline", flow, to_string(wire.source)};
      const PortIndex source = ports.output(wire.source, path);
      for (const PortRef& target : wire.targets) {
        connections.push_back({source, ports.input(target, path), last_tick});
      }
    }
  };
  add("data_flow", bundle.pipeline.data_flow, false);
  add("feedback_flow", bundle.pipeline.feedback_flow, true);
  return connections;
}

using Precedence = Wiring::Precedence;

std::vector<Precedence> list_precedences(const std::vector<Connection>& connections,
                                         const std::vector<Timing>& timings) {
  std::vector<Precedence> precedences;
  for (std::size_t i = 0; i < connections.size(); ++i) {
    const Connection& wire = connections[i];
    if (!wire.last_tick) precedences.push_back({wire.source.node, wire.target.node, i});
  }
  for (std::size_t node = 0; node < timings.size(); ++node) {
    const std::optional<Timing::Condition>& when = timings[node].when;
    if (when && when->is_output) precedences.push_back({when->port.node, node});
    for (const Timing::Age& age : timings[node].ages) precedences.push_back({age.node, node});
  }
  return precedences;
}

using Cycle = std::vector<const Precedence*>;

/// Finds a cycle among nodes that all wait for another node, by following the edges backwards.
Cycle find_cycle(const std::vector<Precedence>& precedences,
                 const std::vector<std::size_t>& waiting_for) {
  std::vector<const Precedence*> into(waiting_for.size(), nullptr);
  for (const Precedence& each : precedences) {
    const bool waits = waiting_for[each.before] > 0 && waiting_for[each.after] > 0;
    if (waits && into[each.after] == nullptr) into[each.after] = &each;
  }
  std::size_t at = 0;
  while (into[at] == nullptr) ++at;
  std::vector<bool> seen(waiting_for.size(), false);
  for (; !seen[at]; at = into[at]->before) seen[at] = true;
  Cycle cycle;
  const std::size_t start = at;
  do {
    cycle.push_back(into[at]);
    at = into[at]->before;
  } while (at != start);
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

[[noreturn]] void fail_for_cycle(const Bundle& bundle, const std::vector<Connection>& connections,
                                 const Cycle& cycle, const RuleReporter& reporter) {  // B18
  constexpr std::size_t kMaxEdges = 20;
  const bool wires =
      std::ranges::all_of(cycle, [](const auto* each) { return each->wire.has_value(); });
  std::string text = wires ? "the forward wires form a cycle:"
                           : "the forward wires and the schedule form a cycle:";
  for (std::size_t i = 0; i < std::min(cycle.size(), kMaxEdges); ++i) {
    const Precedence& each = *cycle[i];
    if (each.wire) {
      const Connection& wire = connections[*each.wire];
      text += "\n  " + to_string(output_ref(bundle, wire.source)) + " -> " +
              to_string(input_ref(bundle, wire.target));
    } else {
      text += "\n  " + bundle.models[each.before].name + " -> " + bundle.models[each.after].name +
              " (the schedule of the second depends on the first)";
    }
  }
  if (cycle.size() > kMaxEdges) {
    text += "\n  and " + std::to_string(cycle.size() - kMaxEdges) + " more";
  }
  const Precedence& first = *cycle.front();
  FieldPath path = {"pipeline", "schedule", bundle.models[first.after].name};
  if (first.wire) {
    path = {"pipeline", "data_flow",
            to_string(output_ref(bundle, connections[*first.wire].source))};
  }
  reporter.fail(rule(18), path,
                text + "\nmove a wire that carries a value of the previous tick to feedback_flow");
}

std::vector<std::size_t> find_order(const Bundle& bundle,
                                    const std::vector<Connection>& connections,
                                    const std::vector<Precedence>& precedences,
                                    const RuleReporter& reporter) {
  std::vector<std::vector<std::size_t>> consumers(bundle.models.size());
  std::vector<std::size_t> waiting_for(bundle.models.size(), 0);
  for (const Precedence& each : precedences) {
    consumers[each.before].push_back(each.after);
    ++waiting_for[each.after];
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < waiting_for.size(); ++i) {
    if (waiting_for[i] == 0) ready.push(i);
  }
  std::vector<std::size_t> order;
  order.reserve(bundle.models.size());
  while (!ready.empty()) {
    const std::size_t next = ready.top();
    ready.pop();
    order.push_back(next);
    for (const std::size_t consumer : consumers[next]) {
      if (--waiting_for[consumer] == 0) ready.push(consumer);
    }
  }
  if (order.size() < bundle.models.size()) {
    fail_for_cycle(bundle, connections, find_cycle(precedences, waiting_for), reporter);
  }
  return order;
}

}  // namespace

Wiring::Wiring(const Bundle& bundle)
    : Wiring(bundle, RuleReporter([](const FieldPath&) { return std::string(); })) {}

Wiring::Wiring(const Bundle& bundle, const RuleReporter& reporter)
    : connections_(connect(bundle, reporter)),
      timings_(resolve_schedule(bundle, reporter)),
      has_schedule_(std::ranges::any_of(timings_, [](const Timing& t) { return !t.is_plain(); })),
      precedences_(list_precedences(connections_, timings_)),
      order_(find_order(bundle, connections_, precedences_, reporter)) {
  std::vector<std::size_t> position(order_.size());
  for (std::size_t i = 0; i < order_.size(); ++i) position[order_[i]] = i;
  for (const Model& model : bundle.models) sources_.emplace_back(model.inputs.size());
  for (const Connection& wire : connections_) {
    const bool ran_already = position[wire.source.node] < position[wire.target.node];
    sources_[wire.target.node][wire.target.port] =
        Source{wire.source, wire.last_tick, wire.last_tick && ran_already ? 2u : 1u};
  }
}

PortRef input_ref(const Bundle& bundle, PortIndex input) {
  const Model& model = bundle.models.at(input.node);
  return {model.name, model.inputs.at(input.port).name};
}

PortRef output_ref(const Bundle& bundle, PortIndex output) {
  const Model& model = bundle.models.at(output.node);
  return {model.name, model.outputs.at(output.port).name};
}

std::vector<std::size_t> execution_order(const Bundle& bundle) {
  return Wiring(bundle).order();
}

}  // namespace leapp
