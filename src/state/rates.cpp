#include "state/rates.h"

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

std::string consequence(const Node& to, const NodePort& input, const Node& from) {
  const bool forward = from.completion < to.completion;
  return ". A bundle runs every node once per tick, so there '" + to.name + "/" + input.name +
         "' receives the value that '" + from.name + "/" + input.source->port + "' has in " +
         (forward ? "the same tick." : "the tick before.");
}

// `how` states the evidence that they did not run equally often.
std::string describe_rates(const Node& to, const NodePort& input, const Node& from,
                           const std::string& how) {
  return beginning(to, input, from) + how + counts_of(to, from) + consequence(to, input, from) +
         " Export the slower node as a separate bundle, or run it in every tick and keep its last "
         "result with torch.where() on a counter tensor. If a node runs several times per tick, "
         "for example for two cameras, use a different node name for each.";
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
         " that of pass " + std::to_string(read.source_pass + 1) + consequence(to, input, from) +
         " Choose between the new value and the old one inside a node, with torch.where() and "
         "annotate.state_tensors().";
}

}  // namespace

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
    findings.push_back(warning(Code::kRates, where, to.name, std::move(text)));
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
