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

/// Finds a cycle among nodes that all wait for another node, by following the wires backwards until
/// a node repeats.
std::vector<const Connection*> find_cycle(const std::vector<Connection>& connections,
                                          const std::vector<std::size_t>& waiting_for) {
  std::vector<const Connection*> into(waiting_for.size(), nullptr);
  for (const Connection& wire : connections) {
    const bool waits = waiting_for[wire.source.node] > 0 && waiting_for[wire.target.node] > 0;
    if (waits && !wire.last_tick && into[wire.target.node] == nullptr)
      into[wire.target.node] = &wire;
  }
  std::size_t at = 0;
  while (into[at] == nullptr) ++at;
  std::vector<bool> seen(waiting_for.size(), false);
  for (; !seen[at]; at = into[at]->source.node) seen[at] = true;
  std::vector<const Connection*> cycle;
  const std::size_t start = at;
  do {
    cycle.push_back(into[at]);
    at = into[at]->source.node;
  } while (at != start);
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

std::string describe_cycle(const Bundle& bundle, const std::vector<const Connection*>& cycle) {
  constexpr std::size_t kMaxEdges = 20;
  std::string text = "the forward wires form a cycle:";
  for (std::size_t i = 0; i < std::min(cycle.size(), kMaxEdges); ++i) {
    text += "\n  " + to_string(output_ref(bundle, cycle[i]->source)) + " -> " +
            to_string(input_ref(bundle, cycle[i]->target));
  }
  if (cycle.size() > kMaxEdges) {
    text += "\n  and " + std::to_string(cycle.size() - kMaxEdges) + " more";
  }
  return text + "\nA value from the previous tick belongs in feedback_flow";
}

std::vector<std::size_t> find_order(const Bundle& bundle,
                                    const std::vector<Connection>& connections,
                                    const RuleReporter& reporter) {
  std::vector<std::vector<std::size_t>> consumers(bundle.models.size());
  std::vector<std::size_t> waiting_for(bundle.models.size(), 0);
  for (const Connection& wire : connections) {
    if (wire.last_tick) continue;
    consumers[wire.source.node].push_back(wire.target.node);
    ++waiting_for[wire.target.node];
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
  if (order.size() < bundle.models.size()) {  // B18
    const auto cycle = find_cycle(connections, waiting_for);
    const std::string source = to_string(output_ref(bundle, cycle.front()->source));
    reporter.fail(rule(18), {"pipeline", "data_flow", source}, describe_cycle(bundle, cycle));
  }
  return order;
}

}  // namespace

Wiring::Wiring(const Bundle& bundle)
    : Wiring(bundle, RuleReporter([](const FieldPath&) { return std::string(); })) {}

Wiring::Wiring(const Bundle& bundle, const RuleReporter& reporter)
    : connections_(connect(bundle, reporter)), order_(find_order(bundle, connections_, reporter)) {
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
