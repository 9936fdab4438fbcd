#include "session/delays.h"

#include <ATen/ops/equal.h>

#include <algorithm>

#include "base/check.h"

namespace leapp::session {
namespace {

int ticks_back(const Node& to, const NodePort& port, const std::deque<Node>& nodes) {
  if (!port.source) return 0;
  return delay_of(to, port, nodes[static_cast<std::size_t>(port.source->node)]);
}

// "policy.py:12: input 'a2' of node 'pi' receives pi/a of 2 ticks ago"
std::string describe(const Node& node, const NodePort& port, const std::deque<Node>& nodes) {
  return trace::line_prefix(port.age.first().where) + "input '" + port.name + "' of node '" +
         node.name + "' receives " + nodes[static_cast<std::size_t>(port.source->node)].name + "/" +
         port.source->port + " of " + std::to_string(ticks_back(node, port, nodes)) + " ticks ago";
}

class DelayBuilder {
 public:
  DelayBuilder(Node& node, const std::deque<Node>& nodes, ir::Graph& graph)
      : node_(node), nodes_(nodes), graph_(graph) {}

  Delays build() && {
    const std::vector<ir::ValueId> inputs = graph_.inputs();
    for (const ir::ValueId id : inputs) {
      const auto port =
          std::find_if(node_.inputs.begin(), node_.inputs.end(),
                       [&](const NodePort& p) { return p.name == graph_.value(id).name; });
      if (port == node_.inputs.end()) continue;
      const int delay = ticks_back(node_, *port, nodes_);
      const ir::TensorType type = graph_.type(id);  // links move the graph's own
      if (delay > 1) add(*port, static_cast<std::size_t>(delay), type);
    }
    return std::move(delays_);
  }

 private:
  struct Link {
    PortId source;
    std::string from;  // the link before, or empty: the source itself
    std::string name;
    at::Tensor initial;
  };

  void add(const NodePort& port, std::size_t delay, const ir::TensorType& type) {
    // What the input held before it first received a value; earlier passes may have run alone.
    const auto received = static_cast<std::size_t>(port.age.first().pass);
    if (node_.samples.size() < std::max(received, delay)) {
      const std::string kept = std::to_string(node_.samples.size());
      throw Error(ErrorKind::kUsage, describe(node_, port, nodes_) +
                                         ", and the values it begins with were kept in the first " +
                                         kept + (kept == "1" ? " pass" : " passes") +
                                         " only. Call leapp.start(max_cached_io=" +
                                         std::to_string(std::max(received, delay)) +
                                         "), or keep the past values as state of the node with "
                                         "annotate.state_tensors().");
    }
    std::string from;
    for (std::size_t age = 1; age < delay; ++age) from = link(port, delay, age, from, type);
    delays_.wires.push_back({port.name, node_.id, from, true, true});
    delays_.lines.push_back(describe(node_, port, nodes_) + ", which '" + from +
                            "' keeps until then");
  }

  // The state that holds what the source put out `age` ticks ago.
  std::string link(const NodePort& port, std::size_t delay, std::size_t age,
                   const std::string& from, const ir::TensorType& type) {
    const auto index = static_cast<std::size_t>(&port - node_.inputs.data());
    const auto received = static_cast<std::size_t>(port.age.first().pass);
    // The pass from which on the input holds what is in the link before the first tick.
    const std::size_t until = std::max(received, delay) - age;
    const auto value = [&](std::size_t sample) {
      // What nobody has received yet goes through as anything else would.
      return node_.samples[std::min(sample + until, node_.samples.size() - 1)].inputs.at(index);
    };
    for (const Link& other : links_) {
      if (other.source == *port.source && other.from == from &&
          at::equal(other.initial, value(0))) {
        return other.name;
      }
    }
    const std::string name = unused_name(port.source->port + "_" + std::to_string(age) + "_ago");
    graph_.add_output(name, graph_.add_input(name, type));
    for (std::size_t i = 0; i < node_.samples.size(); ++i) {
      node_.samples[i].states_before[name] = node_.samples[i].states_after[name] = value(i);
    }
    const bool from_source = from.empty();
    delays_.wires.push_back({name, from_source ? port.source->node : node_.id,
                             from_source ? port.source->port : from, !from_source, true});
    links_.push_back({*port.source, from, name, value(0)});
    return name;
  }

  std::string unused_name(std::string name) const {
    const auto is_it = [&](const auto& port) { return port.name == name; };
    const auto is_input = [&](ir::ValueId id) { return graph_.value(id).name == name; };
    while (std::any_of(node_.inputs.begin(), node_.inputs.end(), is_it) ||
           std::any_of(graph_.outputs().begin(), graph_.outputs().end(), is_it) ||
           std::any_of(graph_.inputs().begin(), graph_.inputs().end(), is_input)) {
      name += "_";
    }
    return name;
  }

  Node& node_;
  const std::deque<Node>& nodes_;
  ir::Graph& graph_;
  std::vector<Link> links_;
  Delays delays_;
};

}  // namespace

Delays add_delays(Node& node, const std::deque<Node>& nodes, ir::Graph& graph) {
  return DelayBuilder(node, nodes, graph).build();
}

void refuse_delays(const Node& node, const std::deque<Node>& nodes) {
  for (const NodePort& port : node.inputs) {
    if (ticks_back(node, port, nodes) <= 1) continue;
    throw Error(ErrorKind::kUsage,
                describe(node, port, nodes) +
                    ", and a model of your own cannot be given the state that keeps it until "
                    "then. Let a traced node keep the past values with annotate.state_tensors() "
                    "and put them out.");
  }
}

}  // namespace leapp::session
