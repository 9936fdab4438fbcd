#include "state/schedule_fit.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>

namespace leapp::state {
namespace {

using session::Node;
using session::NodeId;
using session::NodePort;
using session::NodeRun;
using session::PortId;
using session::RunLog;

// Consecutive passes of one node that count as one.
struct Unit {
  std::size_t first = 0;  // index in the log
  std::size_t passes = 1;
};

// Values that one input received so far.
struct Received {
  std::optional<PortId> source = {};        // other than the node itself in the same tick
  std::optional<int> distance = {};         // in passes
  std::optional<std::size_t> outside = {};  // the last run that received a value of no node
  bool carried = false;
  bool varies = false;  // within a tick
  bool counts = true;   // it is the number of the run, in every run
};

class Fitter {
 public:
  Fitter(std::span<const Node* const> nodes, const RunLog& runs, const Assumptions& assumed)
      : nodes_(nodes), runs_(runs), repeats_(assumed.repeats), moved_(assumed.moved) {}

  ScheduleFit fit() && {
    if (collect_units() && assign_ticks() && find_order()) follow_values();
    return std::move(done_);
  }

 private:
  const Node& node(NodeId id) const { return *session::find_node(nodes_, id); }
  std::string name(NodeId id) const { return "node '" + node(id).name + "'"; }
  NodeTiming& timing(NodeId id) { return done_.timings[id]; }
  bool misfit(std::string why) {
    done_.misfit = std::move(why);
    return false;
  }

  bool collect_units() {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const NodeId id = runs_[i].node;
      const auto repeat = repeats_.find(id);
      const bool continues = repeat != repeats_.end() && i > 0 && runs_[i - 1].node == id;
      if (continues && (repeat->second == 0 ||
                        units_.back().passes < static_cast<std::size_t>(repeat->second))) {
        ++units_.back().passes;
      } else {
        units_.push_back({i});
      }
    }
    return std::ranges::all_of(std::views::keys(repeats_),
                               [&](NodeId id) { return check_repeat(id); });
  }

  bool check_repeat(NodeId id) {
    std::vector<std::size_t> counts;
    for (const Unit& unit : units_) {
      if (runs_[unit.first].node == id) counts.push_back(unit.passes);
    }
    const bool ends_early = runs_[units_.back().first].node == id && counts.size() > 1 &&
                            counts.back() < counts.front();
    if (ends_early) {  // the trace ends within the last tick
      units_.pop_back();
      counts.pop_back();
    }
    timing(id).repeat = static_cast<std::int64_t>(counts.front());
    const auto other =
        std::ranges::find_if(counts, [&](std::size_t count) { return count != counts.front(); });
    if (other == counts.end() && counts.front() > 1) return true;
    if (other == counts.end()) return misfit(name(id) + " did not run several times in a row");
    return misfit(name(id) + " ran " + std::to_string(counts.front()) +
                  " times in a row first and " + std::to_string(*other) + " times later");
  }

  bool runs_after(NodeId id, const Node& base) const {
    return (node(id).completion > base.completion) != moved_.contains(id);
  }

  bool assign_ticks() {
    for (const Unit& unit : units_) ++timing(runs_[unit.first].node).turns;
    const auto order = [&](const Node* each) {
      return std::pair(-timing(each->id).turns, each->completion);
    };
    const Node& base = **std::ranges::min_element(nodes_, {}, order);
    done_.base = base.id;
    int begun = 0;
    int latest = 0;
    for (const Unit& unit : units_) {
      const NodeRun& run = runs_[unit.first];
      const int tick = run.node == base.id ? begun++ : begun - (runs_after(run.node, base) ? 1 : 0);
      std::vector<int>& ticks = timing(run.node).ticks;
      if (!ticks.empty() && ticks.back() == tick) {
        return misfit(name(run.node) + " ran several times in one tick of " + name(base.id));
      }
      if (tick < latest) return misfit(name(run.node) + " does not run before " + name(base.id));
      latest = tick;
      ticks.push_back(tick);
      const auto passes = static_cast<int>(unit.passes);
      done_.ticks.add(run.node, {tick, run.pass, run.pass + passes - 1});
    }
    int complete = begun;
    for (const Node* each : nodes_) {
      const bool is_after = each->id != base.id && runs_after(each->id, base);
      if (!find_period(timing(each->id), begun, is_after)) complete = begun - 1;
    }
    done_.ticks.set_count(complete);
    return true;
  }

  // Nodes that never run in the same tick keep the order of their first passes.
  bool find_order() {
    std::map<NodeId, std::set<NodeId>> earlier;
    std::vector<NodeId> in_tick;
    int tick = -1;
    std::map<NodeId, std::size_t> turns;
    for (const Unit& unit : units_) {
      const NodeId id = runs_[unit.first].node;
      const int now = timing(id).ticks[turns[id]++];
      if (now != std::exchange(tick, now)) in_tick.clear();
      earlier[id].insert(in_tick.begin(), in_tick.end());
      in_tick.push_back(id);
    }
    std::vector<const Node*> rest(nodes_.begin(), nodes_.end());
    std::ranges::sort(rest, {}, &Node::completion);
    while (!rest.empty()) {
      const auto next = std::ranges::find_if(rest, [&](const Node* each) {
        return std::ranges::all_of(earlier[each->id],
                                   [&](NodeId id) { return done_.order.contains(id); });
      });
      if (next == rest.end()) {
        return misfit(name(rest.front()->id) +
                      " runs before another node in some ticks and after "
                      "it in others");
      }
      done_.order[(*next)->id] = static_cast<int>(done_.order.size());
      rest.erase(next);
    }
    return true;
  }

  // Returns false if the trace ended in a tick in which the node may still have run.
  static bool find_period(NodeTiming& timing, int begun, bool is_after) {
    const std::vector<int>& ticks = timing.ticks;
    timing.known = std::max(begun, ticks.back() + 1);
    const bool ran_last = ticks.back() + 1 >= begun;
    const auto gap = [&](std::size_t i) { return ticks[i] - ticks[i - 1]; };
    bool steady = ticks.size() > 1;
    for (std::size_t i = 1; i < ticks.size(); ++i) steady = steady && gap(i) == gap(1);
    const int next = steady ? ticks.back() + gap(1) : begun;
    // A node that runs late in the tick may be due in the last one, in which the trace ended.
    const bool cut = is_after && !ran_last && (!steady || next == begun - 1);
    if (cut) timing.known = begun - 1;
    if (steady && next >= timing.known) {
      timing.every = gap(1);
      timing.periods = (timing.known - ticks.front()) / gap(1);
    }
    return !cut;
  }

  bool follow_values() {
    for (const Unit& unit : units_) {
      for (std::size_t turn = 0; turn < unit.passes; ++turn) {
        const NodeRun& run = runs_[unit.first + turn];
        const Node& reader = node(run.node);
        for (std::size_t i = 0; i < run.inputs.size(); ++i) {
          Received& received = received_[{reader.id, i}];
          const std::optional<PortId>& source = run.inputs[i].source;
          if (source && is_static(*source)) continue;
          received.counts = received.counts && !source && run.inputs[i].number == turn;
          const bool fits = turn == 0 ? follow_first(unit.first, i, received)
                                      : follow_later(unit.first, turn, i, received);
          if (!fits) return false;
        }
      }
      for (std::size_t turn = 0; turn < unit.passes; ++turn) {
        const NodeId id = runs_[unit.first].node;
        if (completed_[id]++ == 0) began_[id] = unit.first;
      }
    }
    return std::ranges::all_of(std::views::keys(repeats_),
                               [&](NodeId id) { return describe_repeat(node(id)); });
  }

  bool is_static(const PortId& source) const {
    const NodePort* const output = find_port(node(source.node).outputs, source.port);
    return output != nullptr && output->is_static;
  }

  std::string port_name(const Node& reader, std::size_t input) const {
    return "'" + reader.name + "/" + reader.inputs[input].name + "'";
  }
  std::string port_name(const PortId& port) const {
    return "'" + node(port.node).name + "/" + port.port + "'";
  }

  bool ran_together(NodeId a, NodeId b) {
    const NodeTiming& one = timing(a);
    const NodeTiming& other = timing(b);
    const bool same_period =
        one.every != 0 && one.every == other.every && one.phase() == other.phase();
    return !repeats_.contains(a) && !repeats_.contains(b) &&
           (same_period || one.ticks == other.ticks);
  }

  // The first run of a tick.
  bool follow_first(std::size_t at, std::size_t input, Received& received) {
    const NodeRun& run = runs_[at];
    const Node& reader = node(run.node);
    const auto& [source, read, number, is_unchanged] = run.inputs[input];
    if (!source) {
      received.outside = at;
      if (!received.source) return true;
      return misfit(port_name(reader, input) + " receives " + port_name(*received.source) +
                    ", but not in pass " + std::to_string(run.pass + 1));
    }
    if (received.source && received.source != source) {
      return misfit(port_name(reader, input) + " receives " + port_name(*received.source) +
                    " in some passes and " + port_name(*source) + " in others");
    }
    received.source = source;
    const auto began = began_.find(source->node);
    if (received.outside && began != began_.end() && began->second < *received.outside) {
      return misfit(port_name(reader, input) + " receives " + port_name(*source) +
                    " only from pass " + std::to_string(run.pass + 1) + " on");
    }
    const int distance = read.distance();
    const bool steady = received.distance.value_or(distance) == distance;
    received.distance = distance;
    const bool by_passes = ran_together(source->node, reader.id);
    const bool is_latest = read.source_pass + 1 == completed_[source->node];
    if (by_passes ? steady : is_latest) return true;
    return misfit(port_name(reader, input) + " receives " + port_name(*source) +
                  (by_passes ? " with a varying delay" : ", but not always its latest value"));
  }

  // A later run of the same tick.
  bool follow_later(std::size_t first, std::size_t turn, std::size_t input, Received& received) {
    const NodeRun& run = runs_[first + turn];
    const Node& reader = node(run.node);
    const NodeRun::Input& now = run.inputs[input];
    const NodeRun::Input& before = runs_[first].inputs[input];
    if (now.source && now.source->node == reader.id) {
      if (now.read.source_pass != run.pass - 1) {
        return misfit(port_name(reader, input) + " receives an older result of " + name(reader.id));
      }
      std::string& target = timing(reader.id).carry[now.source->port];
      const std::string& own = reader.inputs[input].name;
      received.carried = true;
      if (target.empty()) target = own;
      if (target == own) return true;
      return misfit("two inputs of " + name(reader.id) + " receive " + port_name(*now.source));
    }
    if (received.carried) {
      return misfit(port_name(reader, input) + " does not always receive the run before");
    }
    if (now.source != before.source || now.read.source_pass != before.read.source_pass) {
      return misfit(port_name(reader, input) + " changes within a tick");
    }
    received.varies = received.varies || !now.is_unchanged;
    return true;
  }

  bool describe_repeat(const Node& repeated) {
    NodeTiming& found = timing(repeated.id);
    if (found.carry.empty()) return misfit(name(repeated.id) + " does not run on its own results");
    for (std::size_t i = 0; i < repeated.inputs.size(); ++i) {
      const Received& received = received_[{repeated.id, i}];
      const DType dtype = repeated.inputs[i].dtype;
      const bool is_index = received.counts && (dtype == DType::kInt64 || dtype == DType::kInt32);
      if (is_index && found.index.empty()) {
        found.index = repeated.inputs[i].name;
      } else if (received.varies) {
        return misfit(port_name(repeated, i) +
                      " changes within a tick; compute it in the node, from an int64 input that "
                      "counts the runs from 0");
      }
    }
    return true;
  }

  std::span<const Node* const> nodes_;
  const RunLog& runs_;
  const std::map<NodeId, std::int64_t>& repeats_;
  const std::set<NodeId>& moved_;
  std::vector<Unit> units_;
  std::map<NodeId, int> completed_;
  std::map<NodeId, std::size_t> began_;  // first run of each node
  std::map<std::pair<NodeId, std::size_t>, Received> received_;
  ScheduleFit done_;
};

}  // namespace

ScheduleFit fit_schedule(std::span<const Node* const> nodes, const RunLog& runs,
                         const Assumptions& assumptions) {
  return Fitter(nodes, runs, assumptions).fit();
}

}  // namespace leapp::state
