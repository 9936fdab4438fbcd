// Tensors from outside that a node reads, compared from pass to pass: `self.h = f(x, self.h)`, or a
// queue of past observations.
//
// Such state is not declared, and nothing is written in place. A later pass reads another tensor at
// the call where the first pass read the initial value, and the pass before it computed that
// tensor, took it in, or read it at another call. For each such read this finds the sources that
// all passes agree with.
//
// Memory that the first pass writes to is included, because the program may replace it later, or
// allocate it again for every pass.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "state/written.h"

namespace leapp::state {

/// The origin of a value: a variable of the first pass, another external read, or an output.
struct Source {
  VarId var = kNoId;
  std::int32_t external = -1;  ///< index of another external read, or -1
  PortId port = {};
  std::int32_t delay = 1;  ///< how many passes ago

  auto operator<=>(const Source&) const = default;
};

/// A tensor that the first pass reads and that depends on none of its inputs, with the values that
/// later passes read at the same sites. Sites that read the same tensor in every pass are one.
struct ExternalRead {
  std::vector<trace::Site> sites;
  std::vector<VarId> reads;  ///< by pass, from the base on; kNoId if it reads nothing from outside
  std::optional<std::set<Source>> sources = {};  ///< possible sources, by all passes so far
  bool changed = false;                          ///< a later pass read another value
  /// The last pass that read another tensor of the same value, which existed before: a constant, or
  /// the first values of a queue. 0: none did.
  std::size_t moved = 0;
  std::size_t replaced = 0;  ///< the last pass that read another tensor than the pass before it
  std::vector<at::Tensor> found = {};    ///< if it changed: the value that each pass read
  std::set<std::size_t> rewritten = {};  ///< passes that found another value than its source had

  /// The variable of the written state in this memory, if the first pass uses that first here.
  VarId written = kNoId;
  Persistence memory = {};  ///< of that state, unless others wrote to its memory

  /// Returns the variable that the first pass reads.
  VarId initial() const { return reads.front(); }
};

/// Findings of one later pass.
struct FollowedPass {
  std::set<VarId> explained;  ///< variables that it read and whose source is known
  /// A call that the first pass did not run, and whose result this pass used or kept.
  std::optional<std::int32_t> added_call;
  bool apart = false;           ///< this pass or one before it ran other operators than the first
  std::vector<VarId> as_first;  ///< by variable: its counterpart in the first pass, or kNoId

  /// Returns the variable of this pass for one of the first pass, or kNoId.
  VarId counterpart(VarId first) const;
  bool explains(VarId var) const { return !apart && explained.count(var) > 0; }
};

struct Followed {
  std::vector<ExternalRead> external_reads;
  std::vector<State> written;        ///< with their values in each pass
  std::vector<FollowedPass> passes;  ///< from the second on, counted from the base
  /// Sites that name a tensor in some passes only: see find_mismatched_aliases().
  std::vector<trace::Site> mismatched = {};

  /// Returns whether passes ran different operators.
  bool apart() const { return !passes.empty() && passes.back().apart; }
  /// Returns whether later passes read another value where the first one read this variable.
  bool changes(VarId initial) const;
};

/// Compares the reads of the subject's first pass with those of later passes. `written` is the
/// result of find_written() for the first pass.
Followed follow(const Subject& subject, std::vector<State> written);

}  // namespace leapp::state
