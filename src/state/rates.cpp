#include "state/rates.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "state/delayed.h"
#include "state/names.h"

namespace leapp::state {
namespace {

std::string times(int count) {
  return count == 1 ? "once" : count == 2 ? "twice" : std::to_string(count) + " times";
}

// "'lo/g' receives 'hi/g'"
std::string beginning(const Node& to, const NodePort& input, const Node& from) {
  return "'" + to.name + "/" + input.name + "' receives '" + from.name + "/" + input.source->port +
         "'";
}

// `how` states the evidence that they did not run equally often.
std::string describe_rates(const Node& to, const NodePort& input, const Node& from,
                           const std::string& how) {
  return beginning(to, input, from) + how + counts_of(to, from);
}

std::string describe_varying(const Node& to, const NodePort& input, const Node& from) {
  if (&from != &to && from.completed != to.completed) {
    return describe_rates(to, input, from, ", but ");
  }
  const session::Age::Read& read = input.age.deviating();
  const session::Age::Read& first = input.age.first();
  return beginning(to, input, from) + " with a varying delay: pass " +
         std::to_string(first.pass + 1) + " of node '" + to.name + "' received that of pass " +
         std::to_string(first.source_pass + 1) + ", pass " + std::to_string(read.pass + 1) +
         " that of pass " + std::to_string(read.source_pass + 1);
}

// Such a node computes the same in every tick.
bool gives_only_constants(const Node* node) {
  return !node->outputs.empty() && node->states.empty() &&
         std::ranges::all_of(node->outputs, &NodePort::is_static);
}

}  // namespace

bool run_at_other_rates(std::span<const Node* const> all, const session::RunLog& runs) {
  std::vector<const Node*> nodes;
  std::ranges::remove_copy_if(all, std::back_inserter(nodes), gives_only_constants);
  std::map<NodeId, std::pair<std::size_t, std::size_t>> active;  // the first and the last run
  for (std::size_t i = 0; i < runs.size(); ++i) {
    active.try_emplace(runs[i].node, i, i).first->second.second = i;
  }
  for (const Node* one : nodes) {
    std::optional<std::size_t> previous;
    std::map<NodeId, int> between;  // runs of other nodes since the previous run of this one
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].node != one->id) {
        ++between[runs[i].node];
        continue;
      }
      for (const Node* other : nodes) {
        const auto& [first, last] = active.at(other->id);
        const bool both_run = previous && first < *previous && i < last && other->id != one->id;
        if (both_run && between[other->id] != 1) return true;
      }
      previous = i;
      between.clear();
    }
  }
  return false;
}

std::string counts_of(const Node& to, const Node& from) {
  return "node '" + from.name + "' ran " + times(from.completed) + " and node '" + to.name + "' " +
         times(to.completed) + " while tracing";
}

Findings find_rates(std::span<const Node* const> nodes) {
  Findings findings;
  std::set<std::pair<NodeId, NodeId>> said;
  std::map<std::pair<NodeId, std::string>, int> single;  // outputs, as seen by nodes that ran once
  const auto say = [&](const Node& to, const Node& from, trace::FrameRef where, std::string text) {
    if (!said.insert({from.id, to.id}).second) return;
    Diagnostic& added =
        findings.emplace_back(warning(Code::kRates, where, to.name, std::move(text)));
    added.level = LogLevel::kError;
  };
  for (const Node* to : nodes) {
    for (const NodePort& input : to->inputs) {
      if (!input.source || input.age.reads() == 0) continue;
      const Node& from = *find_node(nodes, input.source->node);
      if (is_from_constant(input, from)) continue;
      if (!input.age.distance()) {
        say(*to, from, input.age.deviating().where, describe_varying(*to, input, from));
        continue;
      }
      if (to->completed > 1 || from.id == to->id) continue;
      const int pass = input.age.first().source_pass;
      const auto [it, is_new] = single.try_emplace({from.id, input.source->port}, pass);
      if (!is_new && it->second != pass) {
        say(*to, from, input.age.first().where,
            describe_rates(*to, input, from, " of another pass than other inputs do: "));
      }
    }
  }
  return findings;
}

}  // namespace leapp::state
