#include "state/schedule_inference.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/find.h"
#include "base/join.h"
#include "state/conditions.h"
#include "state/rates.h"
#include "state/schedule_fit.h"
#include "state/schedule_text.h"

namespace leapp::state {
namespace {

using session::NodeRun;
using session::RunLog;
using Entries = std::vector<NodeSchedule>;

constexpr std::size_t kTwice = 2;

// A schedule that fits the passes.
struct Reading {
  ScheduleFit fit;
  Entries entries = {};
  std::vector<Entries> others = {};  // further schedules that fit as well
  std::string doubt = {};            // why the passes show it too rarely; empty if they do not
};

class ScheduleFinder {
 public:
  ScheduleFinder(std::span<const Node* const> nodes, const RunLog& runs, const Entries& stated)
      : nodes_(nodes), runs_(runs), stated_(stated), rates_(find_rates(nodes)) {}

  InferredSchedule infer() && {
    for (const NodeSchedule& entry : stated_) check_names(entry);
    if (stated_.empty() && rates_.empty() && !have_two_sources() &&
        !run_at_other_rates(nodes_, runs_)) {
      return {};
    }
    find_readings();
    if (readings_.empty()) {
      refuse("No schedule expresses it: " + misfit_ + ". " + kRemedy);
    } else if (readings_.size() > 1 || !readings_.front().others.empty()) {
      refuse("The passes fit several schedules. State the one that you mean: " + declarations());
    } else if (!readings_.front().doubt.empty()) {
      refuse(readings_.front().doubt + " Trace more ticks, or state it: " + declarations());
    } else {
      accept(readings_.front());
    }
    return std::move(done_);
  }

 private:
  static constexpr const char* kRemedy =
      "Use a different node name for each place that runs the node in a tick, or run it in every "
      "tick and keep its last result with torch.where() on a counter tensor. If you know the "
      "schedule, state it with leapp.start(schedule=..).";

  const Node* find(const std::string& name) const {
    const Node* const* found = find_in(nodes_, name, [](const Node* node) { return node->name; });
    return found == nullptr ? nullptr : *found;
  }
  const NodeSchedule* stated(const Node& node) const {
    return find_in(stated_, node.name, &NodeSchedule::node);
  }
  void check_names(const NodeSchedule& entry) const {
    const auto place = [&](const char* key) {
      return "leapp.start(schedule=..), '" + entry.node + "', " + key + ": ";
    };
    const auto node_called = [&](const char* key, const std::string& name) -> const Node& {
      const Node* const node = find(name);
      require(node != nullptr, Code::kUnknownNode,
              place(key) + "there was no node '" + name +
                  "'; there were: " + join_quoted(nodes_, &Node::name));
      return *node;
    };
    const Node& node = node_called("its name", entry.node);
    const auto need = [&](const char* key, const Node& owner, const std::vector<NodePort>& ports,
                          const std::string& name) {
      require(find_port(ports, name) != nullptr, Code::kUnknownPort,
              place(key) + "node '" + owner.name + "' has no port '" + name +
                  "'; it has: " + join_quoted(ports, &NodePort::name));
    };
    for (const auto& [output, input] : entry.carry) {
      need("carry", node, node.outputs, output);
      need("carry", node, node.inputs, input);
    }
    if (!entry.index.empty()) need("index", node, node.inputs, entry.index);
    for (const std::string& input : entry.on_change) need("on_change", node, node.inputs, input);
    for (const auto& [input, source] : entry.ages) {
      need("age", node, node.inputs, input);
      node_called("age", source);
    }
    if (!entry.when) return;
    const Node& decider = node_called("when", entry.when->node);
    if (find_port(decider.inputs, entry.when->port) == nullptr) {
      need("when", decider, decider.outputs, entry.when->port);
    }
  }

  // Returns whether an input received values of different outputs. Otherwise its port says which.
  bool have_two_sources() const {
    for (const NodeRun& run : runs_) {
      const Node& node = *find_node(nodes_, run.node);
      for (std::size_t i = 0; i < run.inputs.size(); ++i) {
        if (run.inputs[i].source && run.inputs[i].source != node.inputs[i].source) return true;
      }
    }
    return false;
  }

  // Nodes whose consecutive passes may be runs in one tick, unless the schedule is stated.
  std::vector<NodeId> doubtful_nodes() const {
    constexpr std::size_t kMost = 4;
    std::vector<NodeId> found;
    for (const Node* node : nodes_) {
      const auto follows_itself = [&](const NodeRun& run) {
        return &run != runs_.data() && run.node == node->id && (&run)[-1].node == node->id;
      };
      if (nodes_.size() < 2 || stated(*node) != nullptr || found.size() == kMost) continue;
      if (std::ranges::any_of(runs_, follows_itself)) found.push_back(node->id);
    }
    return found;
  }

  void find_readings() {
    const std::vector<NodeId> doubtful = doubtful_nodes();
    for (std::size_t choice = 0; choice < std::size_t{1} << doubtful.size(); ++choice) {
      Assumptions assumed;
      for (const NodeId id : chosen(doubtful, choice)) assumed.repeats[id] = 0;
      for (const NodeSchedule& entry : stated_) {
        if (entry.repeat > 1) assumed.repeats[find(entry.node)->id] = entry.repeat;
      }
      add_readings(assumed);
    }
  }

  // Returns a subset.
  static std::vector<NodeId> chosen(const std::vector<NodeId>& nodes, std::size_t choice) {
    std::vector<NodeId> subset;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if ((choice >> i & 1) != 0) subset.push_back(nodes[i]);
    }
    return subset;
  }

  // A slow node between two runs of the base may belong to either tick.
  void add_readings(Assumptions assumed) {
    constexpr std::size_t kMost = 4;
    const ScheduleFit first = fit_schedule(nodes_, runs_, assumed);
    const auto base = first.timings.find(first.base);
    std::vector<NodeId> slow;
    for (const auto& [id, timing] : first.timings) {
      const bool is_slow = base != first.timings.end() && timing.turns + 1 < base->second.turns;
      if (is_slow && slow.size() < kMost) slow.push_back(id);
    }
    for (std::size_t choice = 0; choice < std::size_t{1} << slow.size(); ++choice) {
      const std::vector<NodeId> moved = chosen(slow, choice);
      assumed.moved = {moved.begin(), moved.end()};
      add_reading(assumed);
    }
  }

  void add_reading(const Assumptions& assumed) {
    Reading reading{.fit = fit_schedule(nodes_, runs_, assumed)};
    std::string misfit = reading.fit.misfit;
    for (const Node* node : nodes_) {
      if (misfit.empty()) misfit = add_entry(*node, reading);
    }
    if (misfit.empty()) {
      readings_.push_back(std::move(reading));
    } else if (misfit_.empty()) {
      misfit_ = std::move(misfit);  // of the simplest reading
    }
  }

  // Returns why the node has no entry that fits; empty if it has one or needs none.
  std::string add_entry(const Node& node, Reading& reading) {
    const NodeTiming& timing = reading.fit.timings.at(node.id);
    Entries alternatives;
    NodeSchedule entry{.node = node.name,
                       .phase = timing.phase(),
                       .repeat = timing.repeat,
                       .carry = timing.carry,
                       .index = timing.index};
    if (const NodeSchedule* own = stated(node)) {
      if (std::string why = contradiction(*own, node, reading.fit); !why.empty()) {
        return "schedule= states that node '" + node.name + "' runs " + to_words(*own) + ", but " +
               why;
      }
      entry = *own;
      entry.carry = timing.carry;
    } else {
      if (std::string why = find_rhythm(node, reading, entry, alternatives); !why.empty())
        return why;
      if (entry.repeat > 1 && timing.ticks.size() < kTwice && reading.doubt.empty()) {
        reading.doubt = "Node '" + node.name + "' ran " + std::to_string(entry.repeat) +
                        " times in one tick, but only one such tick was traced.";
      }
    }
    if (entry == NodeSchedule{.node = node.name}) return {};
    std::vector<Entries> others;
    for (const NodeSchedule& alternative : alternatives) {
      others.push_back(reading.entries);
      others.back().push_back(alternative);
    }
    for (Entries& other : reading.others) other.push_back(entry);
    std::ranges::move(others, std::back_inserter(reading.others));
    reading.entries.push_back(std::move(entry));
    return {};
  }

  // Sets the period or the condition of a node. Adds entries that fit as well to `alternatives`.
  // Returns why it has neither; empty if it has.
  std::string find_rhythm(const Node& node, Reading& reading, NodeSchedule& entry,
                          Entries& alternatives) const {
    const NodeTiming& timing = reading.fit.timings.at(node.id);
    const std::string of_base = " of node '" + find_node(nodes_, reading.fit.base)->name + "'";
    if (timing.every == 1) return {};
    for (const PortRef& port : find_conditions(node, nodes_, runs_, reading.fit)) {
      alternatives.push_back(entry);
      alternatives.back().phase = 0;
      alternatives.back().when = port;
    }
    const auto ran = static_cast<int>(timing.ticks.size());
    if (timing.every != 0) {
      entry.every = timing.every;
      if (timing.periods < 2) {
        reading.doubt = "Node '" + node.name + "' ran in every " + nth(timing.every) + " tick" +
                        of_base + ", but only one whole period was traced.";
      }
    } else if (!alternatives.empty()) {
      entry = alternatives.front();
      alternatives.erase(alternatives.begin());
      if (ran < 2 || timing.known - ran < 2) {
        reading.doubt = "Node '" + node.name + "' ran in " + std::to_string(ran) + " of " +
                        std::to_string(timing.known) + " ticks" + of_base +
                        ", which is too rare to know its condition.";
      }
    } else if (ran > 1) {
      return "node '" + node.name + "' ran in ticks " + ticks_in_words(timing.ticks) + of_base +
             ", without a period, and no bool port of another node decides it";
    } else {
      entry.every = std::max(timing.known - timing.ticks.front(), 2);
      reading.doubt = "Node '" + node.name + "' ran once in " + std::to_string(timing.known) +
                      " ticks" + of_base + ", so its period is not known.";
    }
    return {};
  }

  // Returns what contradicts a stated entry; empty if the passes fit.
  std::string contradiction(const NodeSchedule& entry, const Node& node, const ScheduleFit& fit) {
    const NodeTiming& timing = fit.timings.at(node.id);
    if (entry.repeat != timing.repeat) return "it ran " + std::to_string(timing.repeat) + " times";
    if (!entry.carry.empty() && entry.carry != timing.carry) {
      return "other results were passed on from run to run";
    }
    if (entry.index != timing.index) {
      return entry.index.empty() ? "its input '" + timing.index + "' counted the runs"
                                 : "its input '" + entry.index + "' did not count the runs";
    }
    std::optional<std::vector<bool>> condition;
    if (entry.when) {
      condition = values_of_condition(*entry.when, node, nodes_, runs_, fit, timing.known);
      if (!condition) {
        return "'" + leapp::to_string(*entry.when) +
               "' is not a bool with one element of a node that runs before it";
      }
    }
    std::size_t next = 0;
    for (int tick = 0; tick < timing.known; ++tick) {
      const bool ran = next < timing.ticks.size() && timing.ticks[next] == tick;
      const bool is_due = tick >= entry.phase && (tick - entry.phase) % entry.every == 0 &&
                          (!condition || (*condition)[static_cast<std::size_t>(tick)]);
      if (ran) ++next;
      if (ran && !is_due) return "it ran in tick " + std::to_string(tick);
      if (!ran && is_due && entry.on_change.empty()) {
        return "it did not run in tick " + std::to_string(tick);
      }
    }
    return contradiction_of_ages(entry, node, fit);
  }

  std::string contradiction_of_ages(const NodeSchedule& entry, const Node& node,
                                    const ScheduleFit& fit) const {
    for (const auto& [input, source] : entry.ages) {
      const auto index =
          static_cast<std::size_t>(find_port(node.inputs, input) - node.inputs.data());
      for (const NodeRun& run : runs_) {
        const Ticks::Turn* const turn =
            run.node == node.id ? fit.ticks.turn_of(node.id, run.pass) : nullptr;
        if (turn == nullptr) continue;
        const Ticks::Turn* const last = fit.ticks.latest(find(source)->id, turn->tick);
        const int age = last == nullptr ? -1 : turn->tick - last->tick;
        if (run.inputs[index].number == age) continue;
        return "its input '" + input + "' was not the age of node '" + source + "' in tick " +
               std::to_string(turn->tick);
      }
    }
    return {};
  }

  std::string declarations() const {
    std::set<std::string> all;
    const auto add = [&](Entries entries) {
      std::erase_if(entries,
                    [&](const NodeSchedule& entry) { return find(entry.node)->is_playback; });
      all.insert(declaration_of(entries));
    };
    for (const Reading& reading : readings_) {
      add(reading.entries);
      for (const Entries& other : reading.others) add(other);
    }
    std::string text;
    for (const std::string& each : all) text += (text.empty() ? "" : " or ") + each;
    return text;
  }

  void refuse(const std::string& why) {
    const Node& last = *nodes_.back();
    const Node* const* const played =
        find_where(nodes_, [](const Node* n) { return n->is_playback; });
    Diagnostic refusal =
        played != nullptr ? played_refusal(**played)
        : !rates_.empty() ? rates_.front()
                          : finding(Code::kRates, LogLevel::kError,
                                    trace::resolve_source(last.passes.front().opened_at), last.name,
                                    "the nodes ran at different rates: " + counts_in_words(nodes_));
    refusal.text += ". " + why;
    done_.refusal = std::move(refusal);
  }

  // For a node whose passes output results of earlier ones.
  Diagnostic played_refusal(const Node& playback) const {
    const Node& node = *find(stated(playback)->ages.begin()->second);
    return finding(Code::kRates, LogLevel::kError,
                   trace::resolve_source(node.passes.front().opened_at), node.name,
                   played_in_words(node, playback));
  }

  void accept(Reading& reading) {
    if (reading.entries.empty()) return;
    const std::string& base = find_node(nodes_, reading.fit.base)->name;
    for (const NodeSchedule& entry : reading.entries) {
      const Node& node = *find(entry.node);
      const NodeTiming& timing = reading.fit.timings.at(node.id);
      done_.remarks.push_back(
          node.is_playback ? node.name + ": in every tick one element of the last chunk of " +
                                 entry.ages.begin()->second
                           : describe_entry(entry, base, timing.ticks.size()));
    }
    for (const Node* node : nodes_) {
      const bool repeats = reading.fit.timings.at(node->id).repeat > 1;
      Node changed = repeats ? first_runs_only(*node, reading.fit.ticks) : *node;
      changed.completion = reading.fit.order.at(node->id);
      done_.changed.emplace(node->id, std::move(changed));
    }
    done_.entries = std::move(reading.entries);
    done_.ticks = std::move(reading.fit.ticks);
  }

  // The node as if only the first run of each tick had received values.
  Node first_runs_only(const Node& node, const Ticks& ticks) const {
    Node changed = node;
    for (NodePort& input : changed.inputs) {
      input.source.reset();
      input.age = {};
    }
    for (const NodeRun& run : runs_) {
      const Ticks::Turn* const turn =
          run.node == node.id ? ticks.turn_of(node.id, run.pass) : nullptr;
      if (turn == nullptr || turn->first != run.pass) continue;
      for (std::size_t i = 0; i < run.inputs.size(); ++i) {
        if (!run.inputs[i].source) continue;
        changed.inputs[i].source = run.inputs[i].source;
        changed.inputs[i].age.add(run.inputs[i].read);
      }
    }
    return changed;
  }

  std::span<const Node* const> nodes_;
  const RunLog& runs_;
  const Entries& stated_;
  Findings rates_;
  std::vector<Reading> readings_;
  std::string misfit_;
  InferredSchedule done_;
};

}  // namespace

InferredSchedule infer_schedule(std::span<const Node* const> nodes, const session::RunLog& runs,
                                const std::vector<NodeSchedule>& stated) {
  return ScheduleFinder(nodes, runs, stated).infer();
}

}  // namespace leapp::state
