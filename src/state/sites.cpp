#include "state/sites.h"

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
           const std::vector<State>& written)
      : node_(node), passes_(passes), base_(base), written_(written), first_(*passes[base].pass) {}

  Followed run() && {
    first_calls_ = trace::own_calls(first_.recording, node_.id);
    start();
    for (pass_ = base_ + 1; pass_ < passes_.size(); ++pass_) add();
    return std::move(followed_);
  }

 private:
  // What is known of a site beside what comes out.
  struct Trail {
    VarId read = kNobody;     // by the pass before; kNobody: nothing from outside
    bool settled = false;     // it can only be what it was in the pass before
    std::int32_t waited = 0;  // passes so far that found something of unknown origin there
    at::Tensor left = {};     // what the pass before left in the memory of the written state
  };

  const Pass& current() const { return *passes_[pass_].pass; }
  const Pass& previous() const { return *passes_[pass_ - 1].pass; }
  bool is_second() const { return pass_ == base_ + 1; }

  void start();
  std::optional<std::int32_t> written_at(VarId var) const;
  void add();
  void look_at(std::size_t number, VarId var, FollowedPass& shown);
  std::set<Source> sources_of(std::int32_t number, VarId var, const Tape::Match& known);
  std::set<Source> older_sources_of(VarId var) const;
  bool follow_memory(FollowedSite& site, Trail& trail, VarId var, const std::set<Source>& sources);
  bool had_before(VarId var) const;
  void note_found(FollowedSite& site, VarId var) const;
  void end_pass(const std::vector<VarId>& read_now);
  VarId in_first(std::size_t pass, VarId var) const;

  const Node& node_;
  const std::vector<WrittenPass>& passes_;
  std::size_t base_;
  const std::vector<State>& written_;
  const Pass& first_;
  std::vector<std::int32_t> first_calls_;
  std::size_t pass_ = 0;  // being added
  std::vector<Trail> trails_;
  std::map<VarId, std::vector<std::int32_t>> readers_;  // sites, by what the pass before read
  Followed followed_;
};

// The written state whose memory a variable of the first pass is, or -1; nullopt when it was
// declared with its value, so that there is nothing to follow.
std::optional<std::int32_t> Follower::written_at(VarId var) const {
  for (std::size_t i = 0; i < written_.size(); ++i) {
    if (!first_.tape().same_memory(var, written_[i].slot.before)) continue;
    if (written_[i].origin == State::Origin::kExplicit) return std::nullopt;
    return static_cast<std::int32_t>(i);
  }
  return -1;
}

void Follower::start() {
  const Tape& tape = first_.tape();
  std::set<std::int32_t> met;  // written states
  std::map<VarId, std::int32_t> first_sites;
  const auto add_site = [&](const trace::Site& at, VarId var, std::int32_t written) {
    const auto number = static_cast<std::int32_t>(trails_.size());
    FollowedSite& site = followed_.sites.emplace_back(
        FollowedSite{.at = at,
                     .initial = var,
                     .like = first_sites.try_emplace(var, number).first->second,
                     .written = written});
    Trail& trail = trails_.emplace_back(Trail{.read = var});
    if (written < 0) return;
    site.held = {written_[static_cast<std::size_t>(written)].per_pass[base_]};
    trail.left = site.held.front().after;
  };
  for (const std::int32_t index : first_calls_) {
    const trace::Call& call = tape.call(index);
    if (call.found_in_memory && call.node == kNobody) continue;  // nothing that the program reads
    trace::for_each_site(tape, index, [&](const trace::Site& at, VarId var) {
      if (var == kNobody || !trace::is_constant(tape, var)) return;
      const std::optional<std::int32_t> written = written_at(var);
      if (!written) return;
      if (*written >= 0) {
        if (met.insert(*written).second) add_site(at, var, *written);
        return;
      }
      const trace::StoreId store = tape.variable(var).store;
      if (store != kNobody && tape.store(store).last_write >= first_calls_.front()) {
        // A constant that was filled in place counts as long as it is one.
        const bool outside = tape.variable(var).origin == Variable::Origin::kOutside;
        if (outside && !tape.store(store).fresh) return;
        if (tape.store(store).last_write >= index) return;
      }
      add_site(at, var, -1);
    });
  }
}

VarId Follower::in_first(std::size_t pass, VarId var) const {
  if (pass == base_) return var;
  const std::vector<VarId>& known = followed_.passes[pass - base_ - 1].as_first;
  const auto index = static_cast<std::size_t>(var);
  return index < known.size() ? known[index] : kNobody;
}

// What the pass before has at its sites, computed, or took in, that the variable is now.
std::set<Source> Follower::sources_of(std::int32_t number, VarId var, const Tape::Match& known) {
  std::set<Source> sources;
  const at::Tensor tensor = current().tape().tensor(var);
  // What the pass before wrote to is not what it read there.
  const bool rewritten = known.var != kNobody && previous().tape().written_since(
                                                     known.var, previous().recording.first_call);
  const auto readers = readers_.find(known.var);
  if (known.same_object && readers != readers_.end() && !rewritten) {
    for (const std::int32_t other : readers->second) {
      const VarId initial = followed_.sites[static_cast<std::size_t>(other)].initial;
      const at::Tensor theirs = other == number ? tensor : first_.tape().content(initial);
      if (!theirs.defined() || trace::same_type(theirs, tensor))
        sources.insert({kNobody, other, {}});
    }
    // What the first pass computed without its inputs is a value of its own as well.
    if (!is_second()) return sources;
  }
  if (known.var != kNobody && was_made(previous(), known.var)) {
    const VarId there = in_first(pass_ - 1, known.var);
    if (there != kNobody) sources.insert({there, -1, {}});
  }
  if (!sources.empty()) return sources;
  const session::OutsideRead* read = current().find_outside(var);
  if (read != nullptr && read->source && !read->writer)
    sources.insert({kNobody, -1, *read->source});
  return sources;
}

// The same in passes further back: the end of a delay.
std::set<Source> Follower::older_sources_of(VarId var) const {
  const session::OutsideRead* read = current().find_outside(var);
  for (std::size_t back = 2; read != nullptr && back <= pass_ - base_; ++back) {
    const std::size_t former = pass_ - back;
    const VarId known = read->known.at(former).var;
    if (known == kNobody || !was_made(*passes_[former].pass, known)) continue;
    const VarId there = in_first(former, known);
    if (there != kNobody) return {{there, -1, {}, static_cast<std::int32_t>(back)}};
  }
  return {};
}

// Whether a tensor that the pass before did not know was there nevertheless: nothing shows that it
// was made since.
bool Follower::had_before(VarId var) const {
  const trace::StoreId store = current().tape().variable(var).store;
  if (store == kNobody || current().tape().store(store).fresh) return false;
  const session::OutsideRead* read = current().find_outside(var);
  return read != nullptr && !read->made_since && read->known.at(pass_ - 1).var == kNobody;
}

// Looks at what a pass found in the memory of a written state. True when the program has put
// another tensor in its place, from one of the sources.
bool Follower::follow_memory(FollowedSite& site, Trail& trail, VarId var,
                             const std::set<Source>& sources) {
  const Tape& tape = first_.tape();
  const trace::StoreId own = tape.variable(site.initial).store;
  const auto in_place = [&](const Source& source) {
    return source.var != kNobody && tape.variable(source.var).store == own;
  };
  const bool replaced = !sources.empty() && std::ranges::none_of(sources, in_place);
  const session::OutsideRead* read = current().find_outside(var);
  const bool shared = read != nullptr && read->writer && read->writer->node != node_.id;
  const State::Values now = values_in(current(), var);
  if (!replaced && !shared) {
    const bool as_left = trace::same_value(now.before, trail.left);
    const bool as_first = trace::same_value(now.before, tape.content(site.initial));
    site.continued |= as_left && !as_first;
    site.renewed |= as_first && !as_left;
    site.strange |= !as_first && !as_left;
    site.moved |= as_first && had_before(var);
  }
  trail.left = now.after;
  site.held.resize(pass_ - base_);
  site.held.push_back(now);
  return replaced;
}

void Follower::note_found(FollowedSite& site, VarId var) const {
  if (!site.changed) {
    site.found.assign(pass_ - base_, trace::evaluate(first_.tape(), site.initial));
    site.changed = true;
  }
  site.found.push_back(trace::copy_of(current().tape().content(var)));
}

// One site in the pass that is being added, which reads `var` there.
void Follower::look_at(std::size_t number, VarId var, FollowedPass& shown) {
  FollowedSite& site = followed_.sites[number];
  Trail& trail = trails_[number];
  const session::OutsideRead* read = current().find_outside(var);
  const Tape::Match known = read == nullptr ? Tape::Match{} : read->known.at(pass_ - 1);
  const bool moved = !known.same_object || known.var != trail.read;
  if (!moved && trail.settled) return;  // a weight: what it always was
  const auto self = static_cast<std::int32_t>(number);
  std::set<Source> sources = sources_of(self, var, known);
  if (site.written >= 0 && !follow_memory(site, trail, var, sources)) return;
  if (moved && sources.empty()) sources = older_sources_of(var);
  const bool unknown = moved && sources.empty() && !site.sources;
  if (!site.sources) {
    // A delay shows first when all that was there at first has been used up.
    std::erase_if(sources, [&](const Source& s) { return s.delay != trail.waited + 1; });
  }
  if (moved && sources.empty()) {
    const at::Tensor before =
        site.found.empty() ? first_.tape().content(site.initial) : site.found.back();
    // Another object with the same content: the program makes it anew, or has several of them.
    if (trace::same_value(before, current().tape().content(var))) {
      sources.insert({kNobody, self, {}});
      site.moved |= had_before(var);
    }
  }
  if (moved && sources.count({kNobody, self, {}}) == 0) {
    if (!sources.empty()) shown.explained.insert(var);
    note_found(site, var);
  } else if (site.changed) {
    note_found(site, var);
  }
  if (unknown) {
    ++trail.waited;
    return;
  }
  if (site.sources) {
    std::erase_if(*site.sources, [&](const Source& s) { return sources.count(s) == 0; });
  } else {
    site.sources = std::move(sources);
  }
  trail.settled = !site.changed && site.sources->size() == 1 && site.sources->begin()->site == self;
}

void Follower::end_pass(const std::vector<VarId>& read_now) {
  for (std::size_t i = 0; i < trails_.size(); ++i) {
    FollowedSite& site = followed_.sites[i];
    trails_[i].read = read_now[i];
    if (read_now[i] != read_now[static_cast<std::size_t>(site.like)]) {
      site.like = static_cast<std::int32_t>(i);
    }
    if (site.changed && site.found.size() == pass_ - base_) site.found.emplace_back();
  }
}

void Follower::add() {
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
  readers_.clear();
  for (std::size_t i = 0; i < trails_.size(); ++i) {
    if (trails_[i].read != kNobody) {
      readers_[trails_[i].read].push_back(static_cast<std::int32_t>(i));
    }
  }
  std::vector<VarId>& as_first = shown.as_first;
  as_first.assign(new_tape.variable_count(), kNobody);
  for (const trace::Recording::Port& input : current().recording.inputs) {
    for (const trace::Recording::Port& there : first_.recording.inputs) {
      if (there.name == input.name) as_first[static_cast<std::size_t>(input.var)] = there.var;
    }
  }
  std::vector<VarId> read_now(trails_.size(), kNobody);
  std::size_t site = 0;
  for (const auto& [old_index, new_index] : aligned.pairs) {
    trace::pair_results(old_tape, old_tape.call(old_index), new_tape, new_tape.call(new_index),
                        as_first);
    while (site < trails_.size() && followed_.sites[site].at.call < old_index) ++site;
    for (; site < trails_.size() && followed_.sites[site].at.call == old_index; ++site) {
      const auto& [_, arg, item] = followed_.sites[site].at;
      const VarId var = trace::variable_at(new_tape, {new_index, arg, item});
      if (var == kNobody || !trace::is_from_outside(new_tape, var)) continue;
      read_now[site] = var;
      as_first[static_cast<std::size_t>(var)] = followed_.sites[site].initial;
      look_at(site, var, shown);
    }
  }
  end_pass(read_now);
  std::ranges::copy(trace::find_torn(first_.recording, current().recording, aligned),
                    std::back_inserter(followed_.torn));
}

}  // namespace

VarId FollowedPass::counterpart(VarId first) const {
  const auto it = std::ranges::find(as_first, first);
  return it == as_first.end() ? kNobody : static_cast<VarId>(it - as_first.begin());
}

bool Followed::changes(VarId initial) const {
  return std::ranges::any_of(
      sites, [&](const FollowedSite& site) { return site.changed && site.initial == initial; });
}

Followed follow(const Node& node, const std::vector<WrittenPass>& passes, std::size_t base,
                const std::vector<State>& written) {
  return Follower(node, passes, base, written).run();
}

}  // namespace leapp::state
