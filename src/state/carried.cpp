#include "state/carried.h"

#include <algorithm>
#include <map>

#include "trace/constant.h"

namespace leapp::state {
namespace {

// Whether each pass found what the output of the other node was in the tick before.
bool holds_outputs_of(const Node& from, const std::string& port, const Node& to,
                      const std::vector<at::Tensor>& found) {
  const NodePort* output = find_port(from.outputs, port);
  if (output == nullptr || from.completion <= to.completion) return false;
  if (from.passes.size() + 1 < found.size()) return false;
  const auto index = static_cast<std::size_t>(output - from.outputs.data());
  for (std::size_t k = 1; k < found.size(); ++k) {
    if (!trace::same_value(from.passes[k - 1].outputs.at(index), found[k])) return false;
  }
  return true;
}

class CarriedFinder {
 public:
  CarriedFinder(const Node& node, std::size_t base, Followed followed, std::vector<State> written,
                std::span<const Node* const> nodes, const Paths& paths)
      : node_(node),
        base_(base),
        followed_(std::move(followed)),
        nodes_(nodes),
        paths_(paths),
        written_(std::move(written)) {}

  Carried run() && {
    look_at_memory();
    const auto differs = [](const FollowedSite& site) { return site.changed || site.moved; };
    if (!followed_.apart && std::ranges::any_of(sites(), differs)) {
      done_.in_doubt = !find_needed() || !check_memory() || !check_feeds();
      if (!done_.in_doubt) {
        for (const std::int32_t number : order_) add_state(number);
        connect();
      }
    }
    keep_all_but_renewed();
    done_.followed = std::move(followed_);
    return std::move(done_);
  }

 private:
  const std::vector<FollowedSite>& sites() const { return followed_.sites; }
  const FollowedSite& site_at(std::int32_t number) const {
    return sites()[static_cast<std::size_t>(number)];
  }
  const Pass& pass() const { return node_.passes[base_]; }

  void say(Code code, const FollowedSite& site, const std::string& text);
  void look_at_memory();
  std::optional<Source> source_of(const FollowedSite& site) const;
  bool is_doubtful(const FollowedSite& site) const;
  bool find_needed();
  bool need(std::int32_t number);
  bool check_memory();
  bool check_feeds();
  void add_state(std::int32_t number);
  void add_chain(std::size_t last, std::int32_t delay);
  void connect();
  void say_scratch();
  void keep_all_but_renewed();

  const Node& node_;
  std::size_t base_;
  Followed followed_;
  std::span<const Node* const> nodes_;
  const Paths& paths_;
  std::vector<State> written_;
  std::set<std::int32_t> dropped_;    // written states that are none
  std::set<std::int32_t> asked_for_;  // sites whose value another one takes
  std::vector<std::int32_t> order_;   // sites that are needed
  std::vector<VarId> roots_;
  std::map<std::pair<VarId, Source>, std::size_t> known_;  // states that were added
  std::map<std::int32_t, std::size_t> state_at_;           // by site
  std::map<std::size_t, Source> source_of_state_;
  Carried done_;
};

void CarriedFinder::say(Code code, const FollowedSite& site, const std::string& text) {
  const trace::Tape& tape = pass().tape();
  const at::Tensor read = site.found.empty() ? tape.content(site.initial) : site.found.front();
  const trace::Call& call = tape.call(site.at.call);
  done_.findings.push_back(
      warning(code, call.frame, node_.name,
              "node '" + node_.name + "': " + describe_read(tape, site.at, read, paths_) + text));
}

// Memory that the pass writes to: made anew for every pass, continued, or changed by others.
void CarriedFinder::look_at_memory() {
  for (const FollowedSite& site : sites()) {
    if (site.written < 0) continue;
    State& state = written_[static_cast<std::size_t>(site.written)];
    if (state.origin == State::Origin::kWritten) {
      std::copy(site.held.begin(), site.held.end(),
                state.per_pass.begin() + static_cast<std::ptrdiff_t>(base_));
    }
    if (site.changed || followed_.apart) continue;
    if (site.renewed && !site.continued && !site.strange) {
      dropped_.insert(site.written);
    } else if (site.strange) {
      say(Code::kForeignWrite, site,
          " and writes to it, so that it is exported as state; but a later pass found something "
          "there that the pass before had not left. If it changes from outside, pass it through "
          "annotate.input_tensors().");
    }
  }
}

// The only source that is left.
std::optional<Source> CarriedFinder::source_of(const FollowedSite& site) const {
  if (!site.sources) return std::nullopt;
  std::optional<Source> found;
  for (const Source& source : *site.sources) {
    // A place where the first pass read a value of its own says no more than the value.
    if (source.site >= 0 && !site_at(source.site).changed &&
        site.sources->count({site_at(source.site).initial, -1, {}}) > 0) {
      continue;
    }
    // Nor do places that always read one tensor say more than the first of them.
    const bool known = found && found->site >= 0 && source.site >= 0 &&
                       site_at(found->site).like == site_at(source.site).like;
    if (known) continue;
    if (found) return std::nullopt;
    found = source;
  }
  return found;
}

// Whether a site that has not changed may yet do so: passes read other tensors there that began
// with the same value, or the same tensor was in a place that changed.
bool CarriedFinder::is_doubtful(const FollowedSite& site) const {
  if (site.moved) {
    // A number that Python wrapped for an operator is held by nobody.
    const at::Tensor tensor = pass().tape().content(site.initial);
    return tensor.dim() > 0 || (paths_ && !paths_(tensor).empty());
  }
  return site.sources && site.sources->size() > 1 &&
         std::ranges::any_of(*site.sources, [&](const Source& source) {
           return source.site >= 0 && site_at(source.site).changed;
         });
}

// The sites that the outputs and the states depend on, until no state needs another one. False
// with a finding where one of them cannot be told.
bool CarriedFinder::find_needed() {
  for (const trace::Recording::Port& output : pass().recording.outputs) {
    roots_.push_back(output.var);
  }
  for (const State& state : written_) {
    if (state.slot.after != kNobody) roots_.push_back(state.slot.after);
  }
  for (bool again = true; again;) {
    again = false;
    const std::vector<std::int32_t> calls = trace::slice(pass().tape(), roots_);
    for (std::size_t i = 0; i < sites().size(); ++i) {
      const auto number = static_cast<std::int32_t>(i);
      const FollowedSite& site = sites()[i];
      if (std::ranges::count(order_, number) > 0) continue;
      // Written memory is there because something depends on it, if not on this first look at it.
      const bool reached = site.written >= 0 || std::ranges::binary_search(calls, site.at.call);
      if (!reached && (asked_for_.count(number) == 0 || !site.changed)) continue;
      if (!site.changed && !is_doubtful(site)) continue;
      if (!need(number)) return false;
      again = true;
    }
  }
  return true;
}

bool CarriedFinder::need(std::int32_t number) {
  const FollowedSite& site = site_at(number);
  if (!site.changed) {
    say(Code::kAmbiguousConstant, site,
        (site.moved ? std::string(", and later passes another one of the same value")
                    : " that the first pass also read elsewhere, where later passes replaced it") +
            ": whether it is a constant cannot be told after " +
            std::to_string(node_.passes.size() - base_) +
            " passes. Trace more passes, or let each place begin with a tensor of its own "
            "(.clone()).");
    return false;
  }
  const std::optional<Source> source = source_of(site);
  const auto fits = [&](const at::Tensor& found) {
    return trace::same_type(site.found.front(), found);
  };
  if (!source || !std::ranges::all_of(site.found, fits)) {
    say(Code::kUnknownSource, site,
        " that changes from pass to pass, and its value does not always come from the same place "
        "in the pass before, so it cannot be exported as state. Declare it with "
        "annotate.state_tensors() and annotate.update_state(), or pass it through "
        "annotate.input_tensors().");
    return false;
  }
  order_.push_back(number);
  if (source->var != kNobody) roots_.push_back(source->var);
  if (source->site >= 0) asked_for_.insert(source->site);
  return true;
}

// Whether what the outputs and the states depend on has the same names in every pass.
bool CarriedFinder::check_memory() {
  if (followed_.torn.empty()) return true;
  const std::vector<std::int32_t> calls = trace::slice(pass().tape(), roots_);
  const auto torn = std::ranges::find_if(followed_.torn, [&](const trace::Site& site) {
    return std::ranges::binary_search(calls, site.call);
  });
  if (torn == followed_.torn.end()) return true;
  say(Code::kUnknownSource, {.at = *torn, .initial = trace::variable_at(pass().tape(), *torn)},
      " that the program also has under another name in some passes, and not in others, and it "
      "writes there in place, so that it cannot be exported as state. Let each name have a tensor "
      "of its own (.clone()), or declare it with annotate.state_tensors().");
  return false;
}

// Whether outputs of other nodes that are carried are always those of the tick before.
bool CarriedFinder::check_feeds() {
  for (const std::int32_t number : order_) {
    const PortId port = source_of(site_at(number))->port;
    if (port.node == kNobody || port.node == node_.id) continue;
    const Node* from = find_node(nodes_, port.node);
    if (from != nullptr && holds_outputs_of(*from, port.port, node_, site_at(number).found)) {
      continue;
    }
    done_.findings.push_back(
        warning(Code::kForeignOutput, pass().opened_at, node_.name,
                "node '" + node_.name +
                    "' reads an output of another node that is not among its inputs, and not "
                    "always that of the tick before: its first value is exported as a constant. "
                    "Pass it through annotate.input_tensors()."));
    return false;
  }
  return true;
}

// The state that is read at a site; sites that read the same tensor from the same source share it.
void CarriedFinder::add_state(std::int32_t number) {
  const FollowedSite& site = site_at(number);
  const Source source = *source_of(site);
  const auto [it, is_new] = known_.try_emplace({site.initial, source}, written_.size());
  if (!is_new) {
    State& state = written_[it->second];
    if (state.slot.before == kNobody) state.slot.sites.push_back(site.at);
    state_at_[number] = it->second;
    return;
  }
  if (site.written >= 0) {
    it->second = static_cast<std::size_t>(site.written);
  } else {
    written_.push_back({.slot = {.sites = {site.at}, .value = site.found.front()}});
    written_.back().per_pass.resize(node_.passes.size());
  }
  State& state = written_[it->second];
  state.origin = State::Origin::kCarried;
  state.slot.after = kNobody;
  for (std::size_t k = 0; k < site.found.size(); ++k) {
    const bool last = k + 1 == site.found.size();
    state.per_pass[base_ + k] = {site.found[k], last ? at::Tensor() : site.found[k + 1]};
  }
  state_at_[number] = it->second;
  source_of_state_[it->second] = source;
  add_chain(it->second, source.delay);
}

// Makes a state one that takes its value from several passes back: each link of the chain holds
// what the next pass will read, and the last takes the value in.
void CarriedFinder::add_chain(std::size_t last, std::int32_t delay) {
  Source source = source_of_state_.at(last);
  source.delay = 1;
  for (std::int32_t link = 1; link < delay; ++link) {
    source_of_state_.erase(last);
    State next = {.origin = State::Origin::kCarried};
    next.per_pass.resize(node_.passes.size());
    for (std::size_t k = base_; k + 1 < node_.passes.size(); ++k) {
      next.per_pass[k] = written_[last].per_pass[k + 1];
    }
    next.slot.value = next.per_pass[base_].before;
    written_[last].slot.same_as = written_.size();
    last = written_.size();
    written_.push_back(std::move(next));
  }
  source_of_state_[last] = source;
}

// Where each state is left, now that all of them are known.
void CarriedFinder::connect() {
  for (const auto& [index, source] : source_of_state_) {
    State& state = written_[index];
    const auto other = state_at_.find(source.site);
    if (source.site >= 0 && other != state_at_.end()) {
      state.slot.same_as = other->second;
    } else if (source.site >= 0) {
      state.slot.after = site_at(source.site).initial;
    } else if (source.port.node == kNobody) {
      state.slot.after = source.var;
    } else if (source.port.node != node_.id) {
      state.fed_by = State::Feed{source.port.node, source.port.port, {}};
    } else {
      const auto& outputs = pass().recording.outputs;
      const auto output =
          std::ranges::find(outputs, source.port.port, &trace::Recording::Port::name);
      if (output != outputs.end()) state.slot.after = output->var;
    }
  }
}

void CarriedFinder::say_scratch() {
  done_.findings.push_back(warning(
      Code::kAmbiguousConstant, pass().opened_at, node_.name,
      "node '" + node_.name +
          "' writes to a tensor that the program made outside of it after leapp.start() and has "
          "let go of since: after a single pass it is taken for scratch memory, which begins each "
          "tick as it began here. Trace a second pass to show whether it is, or keep it as "
          "state."));
  done_.findings.back().settled_by_another_pass = true;
}

void CarriedFinder::keep_all_but_renewed() {
  NodeStates& kept = done_.kept = {.node = &node_, .base = base_};
  std::map<std::size_t, std::size_t> moved;
  for (std::size_t i = 0; i < written_.size(); ++i) {
    const bool scratch = is_scratch(node_, written_[i].slot.before);
    if (scratch) say_scratch();
    if (scratch || dropped_.count(static_cast<std::int32_t>(i)) > 0) {
      kept.renewed.push_back(written_[i].slot.before);
      continue;
    }
    moved[i] = kept.states.size();
    kept.states.push_back(std::move(written_[i]));
  }
  for (State& state : kept.states) {
    if (state.slot.same_as) state.slot.same_as = moved.at(*state.slot.same_as);
  }
}

}  // namespace

Carried find_carried(const Node& node, const std::vector<WrittenPass>& passes, std::size_t base,
                     std::span<const Node* const> nodes, const Paths& paths) {
  std::vector<State> written = find_written(passes, base);
  for (;;) {
    Followed followed = follow(node, passes, base, written);
    Carried carried = CarriedFinder(node, base, std::move(followed), written, nodes, paths).run();
    // What is carried may depend on more memory that the pass writes to, which is followed as well.
    std::vector<State> more = more_written(carried.kept);
    if (more.empty()) return carried;
    std::ranges::move(more, std::back_inserter(written));
  }
}

}  // namespace leapp::state
