#include "state/delayed.h"

#include <algorithm>

#include "base/check.h"
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

class DelayFinder {
 public:
  DelayFinder(const NodeStates& states, std::span<const Node* const> nodes)
      : node_(*states.node), taken_(states.states), nodes_(nodes) {}

  void add(const NodePort& port) {
    const int delay = ticks_back(node_, port, nodes_);
    if (delay <= 1) return;
    check_passes(port, static_cast<std::size_t>(delay));
    std::optional<std::size_t> from;
    for (int age = 1; age < delay; ++age) {
      from = link(port, static_cast<std::size_t>(delay), static_cast<std::size_t>(age), from);
    }
    done_.received.push_back({port.name, *from});
    Diagnostic remark = warning(Code::kFoundState, port.age.first().where, node_.name,
                                describe(node_, port, nodes_) + ", which '" +
                                    done_.links[*from].slot.name + "' keeps until then");
    remark.level = LogLevel::kInfo;
    done_.remarks.push_back(std::move(remark));
  }

  Delayed finish() && { return std::move(done_); }

 private:
  // What the input held before it first received a value; earlier passes may have run alone.
  void check_passes(const NodePort& port, std::size_t delay) const {
    const std::size_t needed = std::max(static_cast<std::size_t>(port.age.first().pass), delay);
    const std::size_t kept = node_.passes.size();
    if (kept >= needed) return;
    throw Error(Code::kDelayTooLong,
                trace::line_prefix(port.age.first().where) + describe(node_, port, nodes_) +
                    ", and the values it begins with were kept in the first " +
                    std::to_string(kept) + (kept == 1 ? " pass" : " passes") +
                    " only. Call leapp.start(max_cached_io=" + std::to_string(needed) +
                    "), or keep the past values as state of the node with "
                    "annotate.state_tensors().");
  }

  // The state that holds what the source put out `age` ticks ago.
  std::size_t link(const NodePort& port, std::size_t delay, std::size_t age,
                   std::optional<std::size_t> from) {
    const auto index = static_cast<std::size_t>(&port - node_.inputs.data());
    const auto received = static_cast<std::size_t>(port.age.first().pass);
    // The pass from which on the input holds what is in the link before the first tick.
    const std::size_t until = std::max(received, delay) - age;
    State state = {.origin = State::Origin::kDelayed};
    for (std::size_t i = 0; i < node_.passes.size(); ++i) {
      // What nobody has received yet goes through as anything else would.
      const std::size_t last = node_.passes.size() - 1;
      const at::Tensor value = node_.passes[std::min(i + until, last)].inputs.at(index);
      state.per_pass.push_back({value, value});
    }
    state.slot.value = state.per_pass.front().before;
    state.fed_by = from ? State::Feed{node_.id, {}, from}
                        : State::Feed{port.source->node, port.source->port, {}};
    if (const auto known = find_link(state)) return *known;
    state.slot.name =
        unused_name(node_, taken_, port.source->port + "_" + std::to_string(age) + "_ago");
    taken_.push_back(state);
    done_.links.push_back(std::move(state));
    return done_.links.size() - 1;
  }

  std::optional<std::size_t> find_link(const State& like) const {
    for (std::size_t i = 0; i < done_.links.size(); ++i) {
      const State& other = done_.links[i];
      if (other.fed_by->node == like.fed_by->node && other.fed_by->output == like.fed_by->output &&
          other.fed_by->state == like.fed_by->state &&
          trace::same_value(other.slot.value, like.slot.value)) {
        return i;
      }
    }
    return std::nullopt;
  }

  const Node& node_;
  std::vector<State> taken_;
  std::span<const Node* const> nodes_;
  Delayed done_;
};

}  // namespace

int delay_of(const Node& to, const NodePort& input, const Node& from) {
  const int least = from.completion < to.completion ? 0 : 1;
  const NodePort* output = find_port(from.outputs, input.source->port);
  // A constant is the same at any time.
  if (output != nullptr && output->is_static) return least;
  return input.age.delay(least);
}

Delayed find_delayed(const NodeStates& states, const std::vector<std::string>& used,
                     std::span<const Node* const> nodes) {
  DelayFinder finder(states, nodes);
  for (const std::string& name : used) {
    if (const NodePort* port = find_port(states.node->inputs, name)) finder.add(*port);
  }
  return std::move(finder).finish();
}

void refuse_delays(const Node& node, std::span<const Node* const> nodes) {
  for (const NodePort& port : node.inputs) {
    if (ticks_back(node, port, nodes) <= 1) continue;
    throw Error(Code::kDelayOfOwnModel,
                trace::line_prefix(port.age.first().where) + describe(node, port, nodes) +
                    ", and a model of your own cannot be given the state that keeps it until "
                    "then. Let a traced node keep the past values with annotate.state_tensors() "
                    "and put them out.");
  }
}

}  // namespace leapp::state
