#include "bundle/merged_nodes.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/utf8.h"

namespace leapp {
namespace {

// Returns why a node cannot be merged with any other, or an empty string.
std::string why_single(const Model& model, const Timing& timing) {
  if (!model.file || !model.backend) return "has no model";
  if (*model.backend != "onnx" && *model.backend != "jit") {
    return "has the backend " + *model.backend + "; only onnx and jit can be merged";
  }
  if (!model.external_data.empty()) return "has external_data, which cannot be merged";
  if (!timing.is_merely_periodic()) {
    return "has a schedule with more than every and phase, so it runs by itself";
  }
  return {};
}

// Returns why two mergeable nodes cannot be in one group, or an empty string.
std::string why_apart(const Model& a, const Timing& when_a, const Model& b, const Timing& when_b) {
  if (a.backend != b.backend) return "have different backends";
  if (a.opset_version != b.opset_version) return "have different opset_versions";
  if (when_a != when_b) return "run in different ticks";
  return {};
}

}  // namespace

NodeGroups resolve_merged(const Bundle& bundle, const Wiring& wiring,
                          const RuleReporter& reporter) {  // B43
  NodeGroups groups;
  if (!bundle.pipeline.merged) return groups;
  std::unordered_map<std::string_view, std::size_t> nodes;
  for (std::size_t i = 0; i < bundle.models.size(); ++i) nodes.emplace(bundle.models[i].name, i);
  std::vector<std::size_t> position(bundle.models.size(), 0);  // in its group; counted from 1
  std::vector<std::size_t> group_of(bundle.models.size(), 0);
  for (const std::vector<std::string>& names : *bundle.pipeline.merged) {
    std::vector<std::size_t>& group = groups.emplace_back();
    const FieldPath path = {"pipeline", "merged", groups.size() - 1};
    if (names.size() < 2) reporter.fail(rule(43), path, "a group has at least two nodes");
    for (const std::string& name : names) {
      FieldPath item = path;
      item.emplace_back(group.size());
      const auto fail = [&](const std::string& what) { reporter.fail(rule(43), item, what); };
      const auto found = nodes.find(name);
      if (found == nodes.end()) fail("there is no model " + quote_for_message(name));
      const std::size_t node = found->second;
      const Model& model = bundle.models[node];
      if (position[node] != 0) fail("the node " + quote_for_message(name) + " is listed twice");
      if (const std::string why = why_single(model, wiring.timing(node)); !why.empty()) {
        fail("the node " + quote_for_message(name) + " " + why);
      }
      if (!group.empty()) {
        const Model& first = bundle.models[group[0]];
        const std::string why =
            why_apart(first, wiring.timing(group[0]), model, wiring.timing(node));
        if (!why.empty()) {
          fail("the nodes " + quote_for_message(first.name) + " and " + quote_for_message(name) +
               " " + why);
        }
      }
      group.push_back(node);
      position[node] = group.size();
      group_of[node] = groups.size();
    }
  }
  for (const Wiring::Precedence& each : wiring.precedences()) {
    const bool together =
        group_of[each.before] != 0 && group_of[each.before] == group_of[each.after];
    if (!together || position[each.before] < position[each.after]) continue;
    reporter.fail(rule(43), {"pipeline", "merged", group_of[each.after] - 1},
                  quote_for_message(bundle.models[each.before].name) + " runs before " +
                      quote_for_message(bundle.models[each.after].name) +
                      ", so it has to be listed before it");
  }
  if (order_groups(wiring, groups).empty() && !bundle.models.empty()) {
    reporter.fail(rule(43), {"pipeline", "merged"},
                  "another node has to run between two nodes of a group");
  }
  return groups;
}

NodeGroups order_groups(const Wiring& wiring, const NodeGroups& groups) {
  const std::size_t count = wiring.order().size();
  NodeGroups units = groups;
  std::vector<std::size_t> unit_of(count, count);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const std::size_t node : groups[i]) unit_of[node] = i;
  }
  std::vector<std::size_t> rank;  // by unit: its first node in the order of single nodes
  rank.resize(units.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t node = wiring.order()[i];
    if (unit_of[node] == count) {
      unit_of[node] = units.size();
      units.push_back({node});
      rank.push_back(i);
    }
    rank[unit_of[node]] = std::min(rank[unit_of[node]], i);
  }
  std::vector<std::vector<std::size_t>> consumers(units.size());
  std::vector<std::size_t> waiting_for(units.size(), 0);
  for (const Wiring::Precedence& each : wiring.precedences()) {
    const std::size_t before = unit_of[each.before];
    const std::size_t after = unit_of[each.after];
    if (before == after) continue;
    consumers[before].push_back(after);
    ++waiting_for[after];
  }
  const auto later = [&](std::size_t a, std::size_t b) { return rank[a] > rank[b]; };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> ready(later);
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    if (waiting_for[unit] == 0) ready.push(unit);
  }
  NodeGroups order;
  while (!ready.empty()) {
    const std::size_t unit = ready.top();
    ready.pop();
    order.push_back(units[unit]);
    for (const std::size_t consumer : consumers[unit]) {
      if (--waiting_for[consumer] == 0) ready.push(consumer);
    }
  }
  if (order.size() < units.size()) return {};
  return order;
}

}  // namespace leapp
