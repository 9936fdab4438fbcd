// Tensors from outside, followed from pass to pass: `self.h = f(x, self.h)`, a queue of past
// observations.
//
// Nobody declares such state and nothing is written in place: a later pass simply reads another
// tensor where the first one read its initial value, and that tensor is one the pass before
// computed, took in, or read at another place. Here each place is followed, and what every pass
// allows as its source is kept.
//
// Memory that the first pass writes to is followed too, because the program may replace it
// afterwards, or make it anew for every pass.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "state/written.h"

namespace leapp::state {

/// Where a value came from: a variable of the first pass, what is read on another trail, or an
/// output.
struct Source {
  VarId var = kNoId;
  std::int32_t trail = -1;
  PortId port = {};
  std::int32_t delay = 1;  ///< how many passes ago

  auto operator<=>(const Source&) const = default;
};

/// A tensor that depends on none of the first pass's inputs, followed from where that reads it: all
/// the sites that read one and the same tensor in every pass.
struct Trail {
  std::vector<trace::Site> sites;
  std::vector<VarId> reads;  ///< from the base on; kNoId where a pass reads nothing from outside
  std::optional<std::set<Source>> sources = {};  ///< what every pass so far allows
  bool changed = false;                          ///< a later pass read another value
  /// The last pass that read another tensor than the one before, of the same value, which the
  /// program had all along: a constant, or the first values of a queue. 0: none did.
  std::size_t moved = 0;
  std::vector<at::Tensor> found = {};    ///< where it has changed: what each pass read
  std::set<std::size_t> rewritten = {};  ///< passes that did not find it as its source had left it

  /// What the written state was found as whose memory the first pass first touches here.
  VarId written = kNoId;
  Persistence memory = {};  ///< of that state, as far as nobody else wrote there

  VarId initial() const { return reads.front(); }  ///< what the first pass reads
};

/// What one later pass showed.
struct FollowedPass {
  std::set<VarId> explained;  ///< variables that it read whose source is known
  /// A call which the first pass did not run, and whose result the pass used or left behind.
  std::optional<std::int32_t> added_call;
  bool apart = false;           ///< by now some pass ran other operators than the first
  std::vector<VarId> as_first;  ///< by variable: what it is in the first pass, or kNoId

  /// The variable that one of the first pass is here, or kNoId.
  VarId counterpart(VarId first) const;
  bool explains(VarId var) const { return !apart && explained.count(var) > 0; }
};

struct Followed {
  std::vector<Trail> trails;
  std::vector<State> written;        ///< with what each pass held where the first has them
  std::vector<FollowedPass> passes;  ///< from the one after the base on
  /// Names for one tensor came or went: see find_mismatched_aliases().
  std::vector<trace::Site> mismatched = {};

  /// Whether the passes ran different operators.
  bool apart() const { return !passes.empty() && passes.back().apart; }
  /// Whether later passes read another value where the first one read this.
  bool changes(VarId initial) const;
};

/// Follows what the first pass of the subject reads through the passes after it. `written` is what
/// find_written() returned for that pass.
Followed follow(const Subject& subject, std::vector<State> written);

}  // namespace leapp::state
