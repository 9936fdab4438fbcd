#include "state/conditions.h"

#include <algorithm>

#include "base/find.h"

namespace leapp::state {
namespace {

using session::NodeRun;
using session::RunLog;

bool is_bool(const NodePort& port) {
  return port.dtype == DType::kBool && element_count(port.shape) == 1;
}

std::map<int, const NodeRun*> runs_of(const Node& node, const RunLog& runs) {
  std::map<int, const NodeRun*> by_pass;
  for (const NodeRun& run : runs) {
    if (run.node == node.id) by_pass[run.pass] = &run;
  }
  return by_pass;
}

std::optional<std::vector<bool>> values_of_output(const Node& from, std::size_t output,
                                                  const RunLog& runs, const Ticks& ticks,
                                                  int count) {
  const auto by_pass = runs_of(from, runs);
  std::vector<bool> values;
  for (int tick = 0; tick < count; ++tick) {
    const Ticks::Turn* const turn = ticks.latest(from.id, tick);
    if (turn == nullptr) {  // it has not run yet
      values.push_back(false);
      continue;
    }
    const auto& number = by_pass.at(turn->last)->numbers.at(output);
    if (!number) return std::nullopt;
    values.push_back(*number != 0);
  }
  return values;
}

std::optional<std::vector<bool>> values_of_input(const Node& from, std::size_t input,
                                                 const RunLog& runs, const Ticks& ticks,
                                                 int count) {
  const auto by_pass = runs_of(from, runs);
  std::vector<bool> values;
  for (int tick = 0; tick < count; ++tick) {
    const Ticks::Turn* const turn = ticks.turn_in(from.id, tick);
    if (turn == nullptr) return std::nullopt;
    const NodeRun::Input& received = by_pass.at(turn->first)->inputs.at(input);
    if (!received.number) return std::nullopt;
    values.push_back(*received.number != 0);
  }
  return values;
}

}  // namespace

std::optional<std::vector<bool>> values_of_condition(const PortRef& port, const Node& node,
                                                     std::span<const Node* const> nodes,
                                                     const session::RunLog& runs,
                                                     const ScheduleFit& fit, int ticks) {
  const Node& from = **find_in(nodes, port.node, [](const Node* each) { return each->name; });
  if (const NodePort* output = find_port(from.outputs, port.port)) {
    if (!is_bool(*output) || fit.order.at(from.id) >= fit.order.at(node.id)) return std::nullopt;
    return values_of_output(from, static_cast<std::size_t>(output - from.outputs.data()), runs,
                            fit.ticks, ticks);
  }
  const NodePort* const input = find_port(from.inputs, port.port);
  // A forward wire feeds an input only when its node has its turn.
  const Node* const source =
      input != nullptr && input->source ? find_node(nodes, input->source->node) : nullptr;
  const bool by_forward_wire =
      source != nullptr && fit.order.at(source->id) < fit.order.at(from.id);
  if (input == nullptr || !is_bool(*input) || by_forward_wire) return std::nullopt;
  return values_of_input(from, static_cast<std::size_t>(input - from.inputs.data()), runs,
                         fit.ticks, ticks);
}

std::vector<PortRef> find_conditions(const Node& node, std::span<const Node* const> nodes,
                                     const session::RunLog& runs, const ScheduleFit& fit) {
  const NodeTiming& timing = fit.timings.at(node.id);
  std::vector<bool> ran(static_cast<std::size_t>(timing.known), false);
  for (const int tick : timing.ticks) ran[static_cast<std::size_t>(tick)] = true;
  std::vector<PortRef> found;
  for (const Node* from : nodes) {
    if (from->id == node.id) continue;
    for (const auto* side : {&from->outputs, &from->inputs}) {
      for (const NodePort& port : *side) {
        const bool is_hidden = side == &from->inputs && find_port(from->outputs, port.name);
        const PortRef ref{from->name, port.name};
        if (is_hidden || !is_bool(port)) continue;
        if (values_of_condition(ref, node, nodes, runs, fit, timing.known) == ran) {
          found.push_back(ref);
        }
      }
    }
  }
  return found;
}

}  // namespace leapp::state
