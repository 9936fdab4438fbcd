#include "ir/passes.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace leapp::ir {
namespace {

// Replaces values in the whole graph. `to` is looked up once, so resolve chains first.
void replace_uses(Graph& graph, const std::unordered_map<ValueId, ValueId>& to) {
  if (to.empty()) return;
  const auto map = [&](ValueId id) {
    const auto it = to.find(id);
    return it == to.end() ? id : it->second;
  };
  std::vector<Op> ops = graph.ops();
  for (Op& op : ops) {
    for (Argument& argument : op.arguments) {
      for_each_ref(argument, [&](ValueRef& ref) { ref.id = map(ref.id); });
    }
  }
  std::vector<Graph::Output> outputs = graph.outputs();
  for (Graph::Output& output : outputs) output.value = map(output.value);
  graph.set_ops(std::move(ops));
  graph.set_outputs(std::move(outputs));
}

bool makes_any(const Op& op, const std::vector<bool>& values) {
  bool found = false;
  for_each_result(op, [&](ValueId id) { found |= values[static_cast<std::size_t>(id)]; });
  return found;
}

bool is_identity(const Graph& graph, const Op& op) {
  // Memory layout and sharing have no meaning in a pure graph, so an op of this list is an identity
  // if its result type equals its operand type.
  static const std::set<std::string_view> candidates = {
      "aten::alias",    "aten::clone",        "aten::contiguous",  "aten::detach",
      "aten::expand",   "aten::lift_fresh",   "aten::reshape",     "aten::to",
      "aten::_to_copy", "aten::type_as",      "aten::view",        "aten::_unsafe_view",
      "aten::view_as",  "aten::expand_as",    "aten::flatten",     "aten::lift_fresh_copy",
      "aten::squeeze",  "aten::resolve_conj", "aten::resolve_neg", "aten::positive"};
  if (candidates.count(op.signature->name) == 0 || op.results.size() != 1) return false;
  if (op.fixed_size) return false;  // it asserts the traced size of a data-dependent shape
  const auto* self = std::get_if<ValueRef>(&op.arguments.at(0));
  if (self == nullptr || self->id == kNoValue || op.results[0].is_list) return false;
  return graph.type(self->id) == graph.type(op.result());
}

}  // namespace

void remove_identities(Graph& graph) {
  std::unordered_map<ValueId, ValueId> same;
  for (const Op& op : graph.ops()) {
    if (!is_identity(graph, op)) continue;
    const ValueId self = std::get<ValueRef>(op.arguments[0]).id;
    const auto it = same.find(self);
    same[op.result()] = it == same.end() ? self : it->second;
  }
  replace_uses(graph, same);
  remove_dead_code(graph);
}

std::vector<bool> needed_for(const Graph& graph, const std::vector<ValueId>& roots) {
  std::vector<bool> needed(graph.value_count(), false);
  for (const ValueId root : roots) {
    if (root != kNoValue) needed[static_cast<std::size_t>(root)] = true;
  }
  for (auto op = graph.ops().rbegin(); op != graph.ops().rend(); ++op) {
    if (!makes_any(*op, needed)) continue;
    for (const Argument& argument : op->arguments) {
      for_each_value(argument, [&](ValueId id) { needed[static_cast<std::size_t>(id)] = true; });
    }
  }
  return needed;
}

void remove_dead_code(Graph& graph) {
  std::vector<ValueId> outputs;
  for (const Graph::Output& output : graph.outputs()) outputs.push_back(output.value);
  const std::vector<bool> needed = needed_for(graph, outputs);
  std::vector<Op> ops;
  for (const Op& op : graph.ops()) {
    if (makes_any(op, needed)) ops.push_back(op);
  }
  graph.set_ops(std::move(ops));
}

void merge_duplicates(Graph& graph) {
  std::unordered_map<ValueId, ValueId> same;
  const auto resolved = [&](std::vector<Argument> arguments) {
    for (Argument& argument : arguments) {
      for_each_ref(argument, [&](ValueRef& ref) {
        const auto it = same.find(ref.id);
        if (it != same.end()) ref.id = it->second;
      });
    }
    return arguments;
  };
  struct Seen {
    const Op* op;
    std::vector<Argument> arguments;
  };
  // By name and by the values that they read, so that few need to be compared.
  std::unordered_map<std::string, std::vector<Seen>> seen;
  for (const Op& op : graph.ops()) {
    if (op.random) continue;
    std::string key = op.signature->qualified_name();
    std::vector<Argument> arguments = resolved(op.arguments);
    for (const Argument& argument : arguments) {
      for_each_value(argument, [&](ValueId id) { key += " " + std::to_string(id); });
    }
    std::vector<Seen>& alike = seen[key];
    const auto earlier = std::find_if(
        alike.begin(), alike.end(), [&](const Seen& each) { return each.arguments == arguments; });
    if (earlier == alike.end()) {
      alike.push_back({&op, std::move(arguments)});
      continue;
    }
    for (std::size_t r = 0; r < op.results.size(); ++r) {
      for (std::size_t k = 0; k < op.results[r].values.size(); ++k) {
        same[op.results[r].values[k]] = earlier->op->results[r].values[k];
      }
    }
  }
  same.erase(kNoValue);
  replace_uses(graph, same);
  remove_dead_code(graph);
}

void merge_constants(Graph& graph) {
  std::multimap<std::pair<std::size_t, std::size_t>, ValueId> seen;  // by size and a cheap hash
  std::unordered_map<ValueId, ValueId> same;
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (!graph.is_constant(id)) continue;
    const Blob& blob = graph.blob(id);
    const std::size_t bytes = blob.byte_size();
    const std::string_view head(reinterpret_cast<const char*>(blob.data.get()),
                                std::min<std::size_t>(bytes, 256));
    const auto key = std::make_pair(bytes, std::hash<std::string_view>()(head));
    const auto [begin, end] = seen.equal_range(key);
    bool merged = false;
    for (auto it = begin; it != end && !merged; ++it) {
      const Blob& other = graph.blob(it->second);
      if (!(other.type == blob.type)) continue;
      if (other.data.get() != blob.data.get() &&
          std::memcmp(other.data.get(), blob.data.get(), bytes) != 0) {
        continue;
      }
      same[id] = it->second;
      merged = true;
    }
    if (!merged) seen.emplace(key, id);
  }
  replace_uses(graph, same);
}

void name_modules(Graph& graph) {
  std::vector<Op> ops = graph.ops();
  for (Op& op : ops) {
    for (const Argument& argument : op.arguments) {
      for_each_value(argument, [&](ValueId id) {
        if (!op.module_path.empty() || !graph.is_constant(id)) return;
        const std::string& name = graph.value(id).name;
        op.module_path = name.substr(0, name.find_last_of('.') + 1);
        if (!op.module_path.empty()) op.module_path.pop_back();
      });
    }
  }
  graph.set_ops(std::move(ops));
}

}  // namespace leapp::ir
