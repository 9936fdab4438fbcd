#include "state/trails.h"

#include <map>

#include "base/find.h"
#include "trace/aliases.h"
#include "trace/constant.h"

namespace leapp::state {
namespace {

using trace::Tape;
using Variable = trace::Variable;

// Whether a pass gave the variable its value.
bool was_made(const Pass& pass, VarId var) {
  return !trace::is_outside_or_fresh(pass.tape(), var) || pass.writes(var);
}

std::shared_ptr<trace::Capture> capture_of(const Tape& tape, VarId var) {
  const trace::StoreId store = tape.variable(var).store;
  return store == kNoId ? nullptr : tape.store(store).capture;
}

class Follower {
 public:
  Follower(const Subject& subject, std::vector<State> written) : subject_(subject) {
    followed_.written = std::move(written);
  }

  Followed run() && {
    start();
    for (pass_ = base_ + 1; pass_ < subject_.passes.size(); ++pass_) add_pass();
    merge();
    for (std::size_t i = 0; i < followed_.trails.size(); ++i) follow(static_cast<std::int32_t>(i));
    return std::move(followed_);
  }

 private:
  // What a pass reads on a trail, against what that was in the pass before.
  struct Reading {
    const session::OutsideRead& read;
    Tape::Match known = {};  // in the pass before
    bool rewritten = false;  // the program has written to it since, if only what it held
    bool given = false;      // the program has put an output of a node there since

    // Whether a tensor that the pass before did not know was there nevertheless: nothing shows that
    // it was made since.
    bool was_there() const { return !read.made_since && known.var == kNoId; }
  };

  const Pass& pass_at(std::size_t pass) const { return *subject_.passes[pass].pass; }
  const Pass& current() const { return pass_at(pass_); }
  const Pass& previous() const { return pass_at(pass_ - 1); }

  // The written state whose memory a variable of the first pass is in, or null.
  const State* state_in(VarId var) const {
    return find_where(followed_.written, [&](const State& state) {
      return first_.tape().same_memory(var, state.slot.before);
    });
  }

  // Whether what a call reads is no constant for being written to: one that was filled in place
  // counts as long as it is one.
  bool is_overwritten(std::int32_t call, VarId var) const {
    const Tape& tape = first_.tape();
    if (!first_.writes(var)) return false;
    const Variable& variable = tape.variable(var);
    const bool outside =
        variable.origin == Variable::Origin::kOutside && !tape.store(variable.store).fresh;
    return outside || tape.written_since(var, call);
  }

  void start() {
    const Tape& tape = first_.tape();
    std::set<VarId> met;  // written states
    first_calls_ = trace::own_calls(first_.recording, subject_.node.id);
    for (const std::int32_t index : first_calls_) {
      const trace::Call& call = tape.call(index);
      // Nothing that the program reads.
      if (call.is_inferred_alias() && call.node == kNoId) continue;
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
  void add_pass() {
    const Tape& old_tape = first_.tape();
    const Tape& new_tape = current().tape();
    const std::vector<std::int32_t> calls = trace::own_calls(current().recording, subject_.node.id);
    const trace::Alignment aligned =
        trace::align_past_differences({old_tape, first_calls_}, {new_tape, calls});
    const trace::Alignment needed =
        trace::align({old_tape, subject_.first().calls}, {new_tape, subject_.passes[pass_].calls});
    const bool was_apart = followed_.apart();
    FollowedPass& shown = followed_.passes.emplace_back();
    shown.added_call = trace::find_added_call(new_tape, aligned);
    shown.apart = was_apart || needed.difference || shown.added_call;
    std::vector<VarId>& as_first = shown.as_first;
    as_first.assign(new_tape.variable_count(), kNoId);
    for (const trace::Recording::Port& input : current().recording.inputs) {
      const auto* there =
          find_in(first_.recording.inputs, input.name, &trace::Recording::Port::name);
      if (there != nullptr) as_first[static_cast<std::size_t>(input.var)] = there->var;
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
    std::ranges::copy(
        trace::find_mismatched_aliases(first_.recording, current().recording, aligned),
        std::back_inserter(followed_.mismatched));
  }

  // Makes one trail of those that have been the same in every pass.
  void merge() {
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

  Reading reading_of(VarId var) const {
    Reading now = {*current().find_outside(var)};
    now.known = now.read.known.at(pass_ - 1);
    const Tape& before = previous().tape();
    const bool same_object = now.known.same_object;
    now.rewritten =
        same_object && capture_of(before, now.known.var) != capture_of(current().tape(), var);
    now.given = now.read.source && !now.read.writer &&
                (!same_object || now.known.rewritten ||
                 !trace::same_value(before.content(now.known.var), current().tape().content(var)));
    return now;
  }

  // What a tensor that a pass made is in the first one; kNoId where that pass did not make it.
  VarId made_by(std::size_t pass, const Reading& now) const {
    const VarId known = now.read.known.at(pass).var;
    if (known == kNoId || !was_made(pass_at(pass), known)) return kNoId;
    if (pass == base_) return known;
    return followed_.passes[pass - base_ - 1].as_first[static_cast<std::size_t>(known)];
  }

  // What the pass before has on its trails, computed, or took in, that is read now.
  std::set<Source> sources_of(const Reading& now) const {
    std::set<Source> sources;
    // What the pass before wrote to is not what it read there, nor is what was copied there since.
    if (now.known.same_object && !now.given && !previous().writes(now.known.var)) {
      const auto readers = readers_.find({pass_ - 1 - base_, now.known.var});
      if (readers != readers_.end()) {
        for (const std::int32_t trail : readers->second) sources.insert({.trail = trail});
      }
    }
    // What the first pass computed without its inputs is a value of its own as well.
    const VarId made = made_by(pass_ - 1, now);
    if (made != kNoId && !(now.known.rewritten && now.given)) sources.insert({.var = made});
    if (sources.empty() && now.given) {
      const auto ago = static_cast<std::int32_t>(pass_) - now.read.source_pass;
      sources.insert({.port = *now.read.source, .delay = std::max(ago, 1)});
    }
    return sources;
  }

  // The same in passes further back: the end of a delay.
  std::set<Source> older_sources_of(const Reading& now) const {
    for (std::size_t back = 2; back <= pass_ - base_; ++back) {
      const VarId made = made_by(pass_ - back, now);
      if (made != kNoId) return {{.var = made, .delay = static_cast<std::int32_t>(back)}};
    }
    return {};
  }

  // Looks at what a pass found in the memory of a written state. True when the program has put
  // another tensor in its place, from one of the sources.
  bool follow_memory(Trail& trail, const Reading& now, const std::set<Source>& sources) {
    const auto in_place = [&](const Source& source) {
      return source.var != kNoId && first_.tape().same_memory(source.var, trail.initial());
    };
    const bool replaced = !sources.empty() && std::ranges::none_of(sources, in_place);
    const auto& writer = now.read.writer;
    const bool shared = writer && writer->node != subject_.node.id;
    std::vector<State::Values>& per_pass = find_state(followed_.written, trail.written)->per_pass;
    const at::Tensor found = (per_pass[pass_] = values_in(current(), now.read.var)).before;
    if (!replaced && !shared) {
      const at::Tensor& first = per_pass[base_].before;
      trail.memory.add(found, per_pass[pass_ - 1].after, first);
      if (trace::same_value(found, first) && now.was_there()) trail.moved = pass_;
    }
    // Nor has it a source where that comes and goes.
    if (!replaced && trail.sources) trail.sources->clear();
    return replaced;
  }

  void follow(std::int32_t number) {
    Trail& trail = followed_.trails[static_cast<std::size_t>(number)];
    const Source itself = {.trail = number};
    const auto content = [&](std::size_t pass) {
      const VarId var = trail.reads[pass - base_];
      return var == kNoId ? at::Tensor() : pass_at(pass).tape().content(var);
    };
    std::int32_t waited = 0;  // passes so far that found something of unknown origin there
    for (pass_ = base_ + 1; pass_ < subject_.passes.size(); ++pass_) {
      const VarId var = trail.reads[pass_ - base_];
      if (var == kNoId) continue;
      const Reading now = reading_of(var);
      const VarId former = trail.reads[pass_ - 1 - base_];
      const bool moved = !now.known.same_object || now.known.var != former || now.given;
      std::set<Source> sources = sources_of(now);
      if (trail.written != kNoId && !follow_memory(trail, now, sources)) continue;
      if (moved && sources.empty()) sources = older_sources_of(now);
      const bool unknown = !trail.sources && (moved ? sources.empty() : now.rewritten);
      if (!trail.sources) {
        // A delay shows first when all that was there at first has been used up.
        std::erase_if(sources, [&](const Source& s) { return s.delay != waited + 1; });
      }
      // Another object with the same content: the program makes it anew, or has several of them.
      if (moved && sources.empty() &&
          trace::same_value(content(trail.changed ? pass_ - 1 : base_), content(pass_))) {
        sources.insert(itself);
        if (now.was_there()) trail.moved = pass_;
      }
      if (moved && sources.count(itself) == 0) {
        trail.changed = true;
        if (!sources.empty()) followed_.passes[pass_ - base_ - 1].explained.insert(var);
        if (now.known.rewritten && !current().writes(var)) trail.rewritten.insert(pass_);
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
    for (std::size_t pass = base_ + 1; pass < subject_.passes.size(); ++pass) {
      trail.found.push_back(trace::copy_of(content(pass)));
    }
  }

  const Subject& subject_;
  const std::size_t base_ = subject_.base;
  const Pass& first_ = *subject_.first().pass;
  std::vector<std::int32_t> first_calls_;
  std::size_t pass_ = 0;  // that is looked at
  // The trails on which a pass, counted from the base, reads a variable.
  std::map<std::pair<std::size_t, VarId>, std::vector<std::int32_t>> readers_;
  Followed followed_;
};

}  // namespace

VarId FollowedPass::counterpart(VarId first) const {
  const auto index = index_in(as_first, first);
  return index ? static_cast<VarId>(*index) : kNoId;
}

bool Followed::changes(VarId initial) const {
  return std::ranges::any_of(
      trails, [&](const Trail& trail) { return trail.changed && trail.initial() == initial; });
}

Followed follow(const Subject& subject, std::vector<State> written) {
  return Follower(subject, std::move(written)).run();
}

}  // namespace leapp::state
