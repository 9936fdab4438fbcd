#include "state/trails.h"

#include <algorithm>
#include <map>

#include "trace/aliases.h"
#include "trace/constant.h"

namespace leapp::state {
namespace {

using trace::Tape;
using Variable = trace::Variable;

// Whether a pass gave the variable its value.
bool was_made(const Pass& pass, VarId var) {
  const Tape& tape = pass.tape();
  const bool outside =
      tape.variable(var).origin == Variable::Origin::kOutside || trace::is_from_outside(tape, var);
  return !outside || tape.written_since(var, pass.recording.first_call);
}

class Follower {
 public:
  Follower(const Node& node, const std::vector<WrittenPass>& passes, std::size_t base,
           std::vector<State> written)
      : node_(node), passes_(passes), base_(base), first_(*passes[base].pass) {
    followed_.written = std::move(written);
  }

  Followed run() && {
    start();
    for (pass_ = base_ + 1; pass_ < passes_.size(); ++pass_) add_pass();
    merge();
    for (std::size_t i = 0; i < followed_.trails.size(); ++i) follow(static_cast<std::int32_t>(i));
    return std::move(followed_);
  }

 private:
  const Pass& current() const { return *passes_[pass_].pass; }
  const session::OutsideRead& read_of(VarId var) const { return *current().find_outside(var); }

  void start();
  const State* state_in(VarId var) const;
  bool is_overwritten(std::int32_t call, VarId var) const;
  void add_pass();
  void merge();
  void follow(std::int32_t number);
  std::set<Source> sources_of(VarId var, const Tape::Match& known) const;
  bool is_rewritten(VarId var, const Tape::Match& known) const;
  bool is_given(VarId var, const Tape::Match& known) const;
  std::set<Source> older_sources_of(VarId var) const;
  VarId made_by(std::size_t pass, VarId var) const;
  bool follow_memory(Trail& trail, VarId var, const std::set<Source>& sources);
  bool had_before(VarId var) const;

  const Node& node_;
  const std::vector<WrittenPass>& passes_;
  std::size_t base_;
  const Pass& first_;
  std::vector<std::int32_t> first_calls_;
  std::size_t pass_ = 0;  // that is looked at
  // The trails on which a pass, counted from the base, reads a variable.
  std::map<std::pair<std::size_t, VarId>, std::vector<std::int32_t>> readers_;
  Followed followed_;
};

// The written state whose memory a variable of the first pass is in, or null.
const State* Follower::state_in(VarId var) const {
  const auto it = std::ranges::find_if(followed_.written, [&](const State& state) {
    return first_.tape().same_memory(var, state.slot.before);
  });
  return it == followed_.written.end() ? nullptr : &*it;
}

// Whether what a call reads is no constant for being written to: one that was filled in place
// counts as long as it is one.
bool Follower::is_overwritten(std::int32_t call, VarId var) const {
  const Tape& tape = first_.tape();
  if (!tape.written_since(var, first_.recording.first_call)) return false;
  const Variable& variable = tape.variable(var);
  const bool outside =
      variable.origin == Variable::Origin::kOutside && !tape.store(variable.store).fresh;
  return outside || tape.written_since(var, call);
}

void Follower::start() {
  const Tape& tape = first_.tape();
  std::set<VarId> met;  // written states
  first_calls_ = trace::own_calls(first_.recording, node_.id);
  for (const std::int32_t index : first_calls_) {
    const trace::Call& call = tape.call(index);
    if (call.inferred_alias && call.node == kNoId) continue;  // nothing that the program reads
    trace::for_each_site(tape, index, [&](const trace::Site& at, VarId var) {
      if (var == kNoId || !trace::is_constant(tape, var)) return;
      const State* state = state_in(var);
      if (state == nullptr && is_overwritten(index, var)) return;
      if (state != nullptr) {
        // Where it was declared with its value, there is nothing to follow.
        if (state->origin == State::Origin::kExplicit) return;
        if (!met.insert(state->slot.before).second) return;
      }
      followed_.trails.push_back({.sites = {at},
                                  .reads = {var},
                                  .written = state == nullptr ? kNoId : state->slot.before});
    });
  }
}

// Finds what the pass reads at the sites, and what its variables are in the first one.
void Follower::add_pass() {
  const Tape& old_tape = first_.tape();
  const Tape& new_tape = current().tape();
  const std::vector<std::int32_t> calls = trace::own_calls(current().recording, node_.id);
  const trace::Alignment aligned =
      trace::align_past_differences({old_tape, first_calls_}, {new_tape, calls});
  FollowedPass& shown = followed_.passes.emplace_back();
  shown.added_call = trace::find_added_call(new_tape, aligned);
  const trace::Alignment needed =
      trace::align({old_tape, passes_[base_].calls}, {new_tape, passes_[pass_].calls});
  followed_.apart |= needed.difference.has_value() || shown.added_call.has_value();
  shown.apart = followed_.apart;
  std::vector<VarId>& as_first = shown.as_first;
  as_first.assign(new_tape.variable_count(), kNoId);
  for (const trace::Recording::Port& input : current().recording.inputs) {
    for (const trace::Recording::Port& there : first_.recording.inputs) {
      if (there.name == input.name) as_first[static_cast<std::size_t>(input.var)] = there.var;
    }
  }
  for (const auto& [old_index, new_index] : aligned.pairs) {
    trace::pair_results(old_tape, old_tape.call(old_index), new_tape, new_tape.call(new_index),
                        as_first);
  }
  const std::map<std::int32_t, std::int32_t> now(aligned.pairs.begin(), aligned.pairs.end());
  for (Trail& trail : followed_.trails) {
    trail.reads.push_back(kNoId);
    const auto& [index, arg, item] = trail.sites.front();
    const auto call = now.find(index);
    if (call == now.end()) continue;
    const VarId var = trace::variable_at(new_tape, {call->second, arg, item});
    if (var == kNoId || current().find_outside(var) == nullptr) continue;
    trail.reads.back() = var;
    as_first[static_cast<std::size_t>(var)] = trail.initial();
  }
  std::ranges::copy(trace::find_mismatched_aliases(first_.recording, current().recording, aligned),
                    std::back_inserter(followed_.mismatched));
}

// Makes one trail of those that have been the same in every pass.
void Follower::merge() {
  std::map<std::vector<VarId>, std::size_t> known;
  std::vector<Trail> merged;
  for (Trail& trail : followed_.trails) {
    const auto [it, is_new] = known.try_emplace(trail.reads, merged.size());
    if (is_new) {
      merged.push_back(std::move(trail));
      const auto number = static_cast<std::int32_t>(it->second);
      const std::vector<VarId>& reads = merged.back().reads;
      for (std::size_t k = 0; k < reads.size(); ++k) readers_[{k, reads[k]}].push_back(number);
    } else {
      merged[it->second].sites.push_back(trail.sites.front());
    }
  }
  followed_.trails = std::move(merged);
}

// What a tensor that a pass made is in the first one; kNoId where that pass did not make it.
VarId Follower::made_by(std::size_t pass, VarId var) const {
  const VarId known = read_of(var).known.at(pass).var;
  if (known == kNoId || !was_made(*passes_[pass].pass, known)) return kNoId;
  if (pass == base_) return known;
  return followed_.passes[pass - base_ - 1].as_first[static_cast<std::size_t>(known)];
}

// What the pass before has on its trails, computed, or took in, that the variable is now.
std::set<Source> Follower::sources_of(VarId var, const Tape::Match& known) const {
  std::set<Source> sources;
  const Pass& previous = *passes_[pass_ - 1].pass;
  // What the pass before wrote to is not what it read there, nor is what was copied there since.
  if (known.same_object && !is_given(var, known) &&
      !previous.tape().written_since(known.var, previous.recording.first_call)) {
    const auto readers = readers_.find({pass_ - 1 - base_, known.var});
    if (readers != readers_.end()) {
      for (const std::int32_t trail : readers->second) sources.insert({.trail = trail});
    }
  }
  // What the first pass computed without its inputs is a value of its own as well.
  const VarId made = made_by(pass_ - 1, var);
  if (made != kNoId && !(known.rewritten && is_given(var, known))) sources.insert({.var = made});
  if (sources.empty() && is_given(var, known)) {
    const session::OutsideRead& read = read_of(var);
    const auto ago = static_cast<std::int32_t>(pass_) - read.source_pass;
    sources.insert({.port = *read.source, .delay = std::max(ago, 1)});
  }
  return sources;
}

// Whether the program has written to the tensor since the pass before, if only what it held.
bool Follower::is_rewritten(VarId var, const Tape::Match& known) const {
  const auto capture_of = [](const Tape& tape, VarId id) {
    const trace::StoreId store = tape.variable(id).store;
    return store == kNoId ? nullptr : tape.store(store).capture;
  };
  return known.same_object && capture_of(passes_[pass_ - 1].pass->tape(), known.var) !=
                                  capture_of(current().tape(), var);
}

// Whether the program has put an output of a node there since the pass before.
bool Follower::is_given(VarId var, const Tape::Match& known) const {
  const session::OutsideRead& read = read_of(var);
  if (!read.source || read.writer) return false;
  return !known.same_object || known.rewritten ||
         !trace::same_value(passes_[pass_ - 1].pass->tape().content(known.var),
                            current().tape().content(var));
}

// The same in passes further back: the end of a delay.
std::set<Source> Follower::older_sources_of(VarId var) const {
  for (std::size_t back = 2; back <= pass_ - base_; ++back) {
    const VarId made = made_by(pass_ - back, var);
    if (made != kNoId) return {{.var = made, .delay = static_cast<std::int32_t>(back)}};
  }
  return {};
}

// Whether a tensor that the pass before did not know was there nevertheless: nothing shows that it
// was made since.
bool Follower::had_before(VarId var) const {
  const session::OutsideRead& read = read_of(var);
  return !read.made_since && read.known.at(pass_ - 1).var == kNoId;
}

// Looks at what a pass found in the memory of a written state. True when the program has put
// another tensor in its place, from one of the sources.
bool Follower::follow_memory(Trail& trail, VarId var, const std::set<Source>& sources) {
  const auto in_place = [&](const Source& source) {
    return source.var != kNoId && first_.tape().same_memory(source.var, trail.initial());
  };
  const bool replaced = !sources.empty() && std::ranges::none_of(sources, in_place);
  const auto& writer = read_of(var).writer;
  const bool shared = writer && writer->node != node_.id;
  std::vector<State::Values>& per_pass = find_state(followed_.written, trail.written)->per_pass;
  const State::Values now = per_pass[pass_] = values_in(current(), var);
  if (!replaced && !shared) {
    const at::Tensor& first = per_pass[base_].before;
    trail.memory.add(now.before, per_pass[pass_ - 1].after, first);
    if (trace::same_value(now.before, first) && had_before(var)) trail.moved = pass_;
  }
  // Nor has it a source where that comes and goes.
  if (!replaced && trail.sources) trail.sources->clear();
  return replaced;
}

void Follower::follow(std::int32_t number) {
  Trail& trail = followed_.trails[static_cast<std::size_t>(number)];
  const Source itself = {.trail = number};
  const auto content = [&](std::size_t pass) {
    const VarId var = trail.reads[pass - base_];
    return var == kNoId ? at::Tensor() : passes_[pass].pass->tape().content(var);
  };
  std::int32_t waited = 0;  // passes so far that found something of unknown origin there
  for (pass_ = base_ + 1; pass_ < passes_.size(); ++pass_) {
    const VarId var = trail.reads[pass_ - base_];
    if (var == kNoId) continue;
    const Tape::Match known = read_of(var).known.at(pass_ - 1);
    const bool moved =
        !known.same_object || known.var != trail.reads[pass_ - 1 - base_] || is_given(var, known);
    std::set<Source> sources = sources_of(var, known);
    if (trail.written != kNoId && !follow_memory(trail, var, sources)) continue;
    if (moved && sources.empty()) sources = older_sources_of(var);
    const bool unknown = !trail.sources && (moved ? sources.empty() : is_rewritten(var, known));
    if (!trail.sources) {
      // A delay shows first when all that was there at first has been used up.
      std::erase_if(sources, [&](const Source& s) { return s.delay != waited + 1; });
    }
    // Another object with the same content: the program makes it anew, or has several of them.
    if (moved && sources.empty() &&
        trace::same_value(content(trail.changed ? pass_ - 1 : base_), content(pass_))) {
      sources.insert(itself);
      if (had_before(var)) trail.moved = pass_;
    }
    if (moved && sources.count(itself) == 0) {
      trail.changed = true;
      if (!sources.empty()) followed_.passes[pass_ - base_ - 1].explained.insert(var);
      const bool own = current().tape().written_since(var, current().recording.first_call);
      if (known.rewritten && !own) trail.rewritten.insert(pass_);
    }
    if (unknown) {
      ++waited;
      continue;
    }
    if (!trail.sources) trail.sources = sources;
    std::erase_if(*trail.sources, [&](const Source& s) { return sources.count(s) == 0; });
  }
  if (!trail.changed) return;
  trail.found = {trace::evaluate(first_.tape(), trail.initial())};
  for (std::size_t pass = base_ + 1; pass < passes_.size(); ++pass) {
    trail.found.push_back(trace::copy_of(content(pass)));
  }
}

}  // namespace

VarId FollowedPass::counterpart(VarId first) const {
  const auto it = std::ranges::find(as_first, first);
  return it == as_first.end() ? kNoId : static_cast<VarId>(it - as_first.begin());
}

bool Followed::changes(VarId initial) const {
  return std::ranges::any_of(
      trails, [&](const Trail& trail) { return trail.changed && trail.initial() == initial; });
}

Followed follow(const Node& node, const std::vector<WrittenPass>& passes, std::size_t base,
                std::vector<State> written) {
  return Follower(node, passes, base, std::move(written)).run();
}

}  // namespace leapp::state
