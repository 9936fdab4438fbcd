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

/// One forward wire to one target.
struct Edge {
  std::size_t from;
  std::size_t to;
  const PortRef* source;
  const PortRef* target;
  FieldPath path() const { return {"pipeline", "data_flow", to_string(*source)}; }
};

std::size_t index_of(const std::unordered_map<std::string_view, std::size_t>& models,
                     const PortRef& ref, const RuleReporter& reporter, const FieldPath& path) {
  const auto found = models.find(ref.node);
  if (found == models.end()) {  // B15
    reporter.fail(rule(15), path, "there is no model " + quote_for_message(ref.node));
  }
  return found->second;
}

std::vector<Edge> collect_edges(const Bundle& bundle, const RuleReporter& reporter) {
  std::unordered_map<std::string_view, std::size_t> models;
  for (std::size_t i = 0; i < bundle.models.size(); ++i) models[bundle.models[i].name] = i;
  std::vector<Edge> edges;
  for (const Wire& wire : bundle.pipeline.data_flow) {
    const FieldPath path = {"pipeline", "data_flow", to_string(wire.source)};
    const std::size_t from = index_of(models, wire.source, reporter, path);
    for (const PortRef& target : wire.targets) {
      edges.push_back({from, index_of(models, target, reporter, path), &wire.source, &target});
    }
  }
  return edges;
}

/// Returns a cycle among models that all wait for another: going back along the wires must meet one
/// again.
std::vector<const Edge*> find_cycle(const std::vector<Edge>& edges,
                                    const std::vector<std::size_t>& waiting_for) {
  std::vector<const Edge*> into(waiting_for.size(), nullptr);
  for (const Edge& edge : edges) {
    if (waiting_for[edge.from] > 0 && waiting_for[edge.to] > 0 && !into[edge.to]) {
      into[edge.to] = &edge;
    }
  }
  std::size_t at = 0;
  while (!into[at]) ++at;
  std::vector<bool> seen(waiting_for.size(), false);
  for (; !seen[at]; at = into[at]->from) seen[at] = true;
  std::vector<const Edge*> cycle;
  const std::size_t start = at;
  do {
    cycle.push_back(into[at]);
    at = into[at]->from;
  } while (at != start);
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

std::string describe_cycle(const std::vector<const Edge*>& cycle) {
  constexpr std::size_t kMaxEdges = 20;
  std::string text = "the forward wires form a cycle:";
  for (std::size_t i = 0; i < std::min(cycle.size(), kMaxEdges); ++i) {
    text += "\n  " + to_string(*cycle[i]->source) + " -> " + to_string(*cycle[i]->target);
  }
  if (cycle.size() > kMaxEdges) {
    text += "\n  and " + std::to_string(cycle.size() - kMaxEdges) + " more";
  }
  return text + "\na value from the last tick belongs into feedback_flow";
}

}  // namespace

std::vector<std::size_t> find_execution_order(const Bundle& bundle, const RuleReporter& reporter) {
  const std::vector<Edge> edges = collect_edges(bundle, reporter);
  std::vector<std::vector<std::size_t>> consumers(bundle.models.size());
  std::vector<std::size_t> waiting_for(bundle.models.size(), 0);
  for (const Edge& edge : edges) {
    consumers[edge.from].push_back(edge.to);
    ++waiting_for[edge.to];
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
    const auto cycle = find_cycle(edges, waiting_for);
    reporter.fail(rule(18), cycle.front()->path(), describe_cycle(cycle));
  }
  return order;
}

std::vector<std::size_t> execution_order(const Bundle& bundle) {
  return find_execution_order(bundle, RuleReporter([](const FieldPath&) { return std::string(); }));
}

}  // namespace leapp
