#include "state/external_reads.h"

#include <map>

#include "base/find.h"
#include "trace/aliases.h"
#include "trace/constant.h"

namespace leapp::state {
namespace {

using trace::Tape;
using Variable = trace::Variable;

// Returns whether the pass computed the variable's value.
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
    for (std::size_t i = 0; i < followed_.external_reads.size(); ++i)
      follow(static_cast<std::int32_t>(i));
    return std::move(followed_);
  }

 private:
  // One external read of a pass, and its variable in the previous pass.
  struct Reading {
    const session::OutsideRead& read;
    Tape::Match known = {};  // in the previous pass
    bool rewritten = false;  // the program wrote to it since, possibly the same value
    bool given = false;      // the program stored an output of a node there since

    // Returns whether a tensor that is new to this pass may have existed before it: no operator is
    // known to have created it.
    bool was_there() const { return !read.made_since && known.var == kNoId; }
  };

  const Pass& pass_at(std::size_t pass) const { return *subject_.passes[pass].pass; }
  const Pass& current() const { return pass_at(pass_); }
  const Pass& previous() const { return pass_at(pass_ - 1); }

  // Returns the written state in whose memory a variable of the first pass is, or nullptr.
  const State* state_in(VarId var) const {
    return find_where(followed_.written, [&](const State& state) {
      return first_.tape().same_memory(var, state.slot.before);
    });
  }

  // Returns whether an external read is not a constant because it is written to. A tensor that was
  // filled in place counts as a constant until it changes.
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
      // Not read by the program.
      if (call.is_inferred_alias() && call.node == kNoId) continue;
      trace::for_each_site(tape, index, [&](const trace::Site& at, VarId var) {
        if (var == kNoId || !trace::is_constant(tape, var)) return;
        const State* state = state_in(var);
        if (state == nullptr && is_overwritten(index, var)) return;
        if (state != nullptr) {
          // A declaration with its value needs no further search.
          if (state->origin == State::Origin::kExplicit) return;
          if (!met.insert(state->slot.before).second) return;
        }
        followed_.external_reads.push_back(
            {.sites = {at},
             .reads = {var},
             .written = state == nullptr ? kNoId : state->slot.before});
      });
    }
  }

  // Finds the variables that the pass reads at the sites, and their counterparts in the first pass.
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
    for (ExternalRead& external : followed_.external_reads) {
      external.reads.push_back(kNoId);
      const auto& [index, arg, item] = external.sites.front();
      const auto call = now.find(index);
      if (call == now.end()) continue;
      const VarId var = trace::variable_at(new_tape, {call->second, arg, item});
      if (var == kNoId || current().find_outside(var) == nullptr) continue;
      external.reads.back() = var;
      as_first[static_cast<std::size_t>(var)] = external.initial();
    }
    std::ranges::copy(
        trace::find_mismatched_aliases(first_.recording, current().recording, aligned),
        std::back_inserter(followed_.mismatched));
  }

  // Merges external reads that read the same tensor in every pass.
  void merge() {
    std::map<std::vector<VarId>, std::size_t> known;
    std::vector<ExternalRead> merged;
    for (ExternalRead& external : followed_.external_reads) {
      const auto [it, is_new] = known.try_emplace(external.reads, merged.size());
      if (is_new) {
        merged.push_back(std::move(external));
        const auto number = static_cast<std::int32_t>(it->second);
        const std::vector<VarId>& reads = merged.back().reads;
        for (std::size_t k = 0; k < reads.size(); ++k) readers_[{k, reads[k]}].push_back(number);
      } else {
        merged[it->second].sites.push_back(external.sites.front());
      }
    }
    followed_.external_reads = std::move(merged);
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

  // Returns the counterpart in the first pass of a tensor that a pass created, or kNoId.
  VarId made_by(std::size_t pass, const Reading& now) const {
    const VarId known = now.read.known.at(pass).var;
    if (known == kNoId || !was_made(pass_at(pass), known)) return kNoId;
    if (pass == base_) return known;
    return followed_.passes[pass - base_ - 1].as_first[static_cast<std::size_t>(known)];
  }

  // Finds the sources in the previous pass: values that it read, computed or received.
  std::set<Source> sources_of(const Reading& now) const {
    std::set<Source> sources;
    // Not a value that was overwritten, by the pass itself or by a later copy.
    if (now.known.same_object && !now.given && !previous().writes(now.known.var)) {
      const auto readers = readers_.find({pass_ - 1 - base_, now.known.var});
      if (readers != readers_.end()) {
        for (const std::int32_t external : readers->second) sources.insert({.external = external});
      }
    }
    // A value that the first pass computed without its inputs counts as a separate source.
    const VarId made = made_by(pass_ - 1, now);
    if (made != kNoId && !(now.known.rewritten && now.given)) sources.insert({.var = made});
    if (sources.empty() && now.given) {
      const auto ago = static_cast<std::int32_t>(pass_) - now.read.source_pass;
      sources.insert({.port = *now.read.source, .delay = std::max(ago, 1)});
    }
    return sources;
  }

  // Finds the sources in earlier passes: the end of a delay line.
  std::set<Source> older_sources_of(const Reading& now) const {
    for (std::size_t back = 2; back <= pass_ - base_; ++back) {
      const VarId made = made_by(pass_ - back, now);
      if (made != kNoId) return {{.var = made, .delay = static_cast<std::int32_t>(back)}};
    }
    return {};
  }

  // Processes the content of a written state's memory at the start of a pass. Returns true if the
  // program has replaced the tensor by another one, from one of the sources.
  bool follow_memory(ExternalRead& external, const Reading& now, const std::set<Source>& sources) {
    const auto in_place = [&](const Source& source) {
      return source.var != kNoId && first_.tape().same_memory(source.var, external.initial());
    };
    const bool replaced = !sources.empty() && std::ranges::none_of(sources, in_place);
    const auto& writer = now.read.writer;
    const bool shared = writer && writer->node != subject_.node.id;
    std::vector<State::Values>& per_pass =
        find_state(followed_.written, external.written)->per_pass;
    const at::Tensor found = (per_pass[pass_] = values_in(current(), now.read.var)).before;
    if (!replaced && !shared) {
      const at::Tensor& first = per_pass[base_].before;
      external.memory.add(found, per_pass[pass_ - 1].after, first);
      if (trace::same_value(found, first) && now.was_there()) external.moved = pass_;
    }
    // A tensor that only some passes read has no source.
    if (!replaced && external.sources) external.sources->clear();
    return replaced;
  }

  void follow(std::int32_t number) {
    ExternalRead& external = followed_.external_reads[static_cast<std::size_t>(number)];
    const Source itself = {.external = number};
    const auto content = [&](std::size_t pass) {
      const VarId var = external.reads[pass - base_];
      return var == kNoId ? at::Tensor() : pass_at(pass).tape().content(var);
    };
    std::int32_t waited = 0;  // passes so far that read a value of unknown origin
    for (pass_ = base_ + 1; pass_ < subject_.passes.size(); ++pass_) {
      const VarId var = external.reads[pass_ - base_];
      if (var == kNoId) continue;
      const Reading now = reading_of(var);
      const VarId former = external.reads[pass_ - 1 - base_];
      const bool moved = !now.known.same_object || now.known.var != former || now.given;
      if (moved) external.replaced = pass_;
      std::set<Source> sources = sources_of(now);
      if (external.written != kNoId && !follow_memory(external, now, sources)) continue;
      if (moved && sources.empty()) sources = older_sources_of(now);
      const bool unknown = !external.sources && (moved ? sources.empty() : now.rewritten);
      if (!external.sources) {
        // A delay line of length N first exposes computed values in pass N + 1.
        std::erase_if(sources, [&](const Source& s) { return s.delay != waited + 1; });
      }
      // A different object with the same value: the program creates it in each pass, or has
      // several.
      if (moved && sources.empty() &&
          trace::same_value(content(external.changed ? pass_ - 1 : base_), content(pass_))) {
        sources.insert(itself);
        if (now.was_there()) external.moved = pass_;
      }
      if (moved && sources.count(itself) == 0) {
        external.changed = true;
        if (!sources.empty()) followed_.passes[pass_ - base_ - 1].explained.insert(var);
        if (now.known.rewritten && !current().writes(var)) external.rewritten.insert(pass_);
      }
      if (unknown) {
        ++waited;
        continue;
      }
      if (!external.sources) external.sources = sources;
      std::erase_if(*external.sources, [&](const Source& s) { return sources.count(s) == 0; });
    }
    if (!external.changed) return;
    external.found = {trace::evaluate(first_.tape(), external.initial())};
    for (std::size_t pass = base_ + 1; pass < subject_.passes.size(); ++pass) {
      external.found.push_back(trace::copy_of(content(pass)));
    }
  }

  const Subject& subject_;
  const std::size_t base_ = subject_.base;
  const Pass& first_ = *subject_.first().pass;
  std::vector<std::int32_t> first_calls_;
  std::size_t pass_ = 0;  // the pass that is being compared
  // By pass, counted from the base: the external reads of each variable.
  std::map<std::pair<std::size_t, VarId>, std::vector<std::int32_t>> readers_;
  Followed followed_;
};

}  // namespace

VarId FollowedPass::counterpart(VarId first) const {
  const auto index = index_in(as_first, first);
  return index ? static_cast<VarId>(*index) : kNoId;
}

bool Followed::changes(VarId initial) const {
  return std::ranges::any_of(external_reads, [&](const ExternalRead& external) {
    return external.changed && external.initial() == initial;
  });
}

Followed follow(const Subject& subject, std::vector<State> written) {
  return Follower(subject, std::move(written)).run();
}

}  // namespace leapp::state
