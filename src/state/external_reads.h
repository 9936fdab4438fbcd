// External tensors that a node reads, compared from pass to pass: `self.h = f(x, self.h)`, or a
// queue of past observations.
//
// Such state is not declared and not written in place. At the call at which the first pass read the
// initial value, a later pass reads a different tensor, which the previous pass computed, received,
// or read at another call. For each such read, this code finds the sources that agree with all
// passes.
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
/// later passes read at the same sites. Sites that read the same tensor in every pass are merged.
struct ExternalRead {
  std::vector<trace::Site> sites;
  std::vector<VarId> reads;  ///< by pass, from the base on; kNoId if it reads no external tensor
  std::optional<std::set<Source>> sources = {};  ///< sources that agree with all passes so far
  bool changed = false;                          ///< a later pass read a different value
  /// The last pass that read a different existing tensor with the same value: a constant, or the
  /// first values of a queue. 0: none did.
  std::size_t moved = 0;
  std::size_t replaced = 0;  ///< the last pass that read another tensor than the pass before it
  std::vector<at::Tensor> found = {};    ///< if it changed: the value that each pass read
  std::set<std::size_t> rewritten = {};  ///< passes that found another value than its source had

  /// The variable of the written state in this memory, if the first pass uses it first at this
  /// site.
  VarId written = kNoId;
  Persistence memory = {};  ///< value of that state, unless others wrote to its memory

  /// Returns the variable that the first pass reads.
  VarId initial() const { return reads.front(); }
};

/// Findings of one later pass.
struct FollowedPass {
  std::set<VarId> explained;  ///< variables with a known source that it read
  /// A call that the first pass did not run and whose result this pass used or stored.
  std::optional<std::int32_t> added_call;
  bool apart = false;           ///< this pass or an earlier one ran other operators than the first
  std::vector<VarId> as_first;  ///< by variable: its counterpart in the first pass, or kNoId

  /// Returns the variable of this pass for one of the first pass, or kNoId.
  VarId counterpart(VarId first) const;
  bool explains(VarId var) const { return !apart && explained.count(var) > 0; }
};

struct Followed {
  std::vector<ExternalRead> external_reads;
  std::vector<State> written;        ///< with their values in each pass
  std::vector<FollowedPass> passes;  ///< from the second on, counted from the base
  /// Sites at which tensors are aliases in some passes only: see find_mismatched_aliases().
  std::vector<trace::Site> mismatched = {};

  /// Returns whether passes ran different operators.
  bool apart() const { return !passes.empty() && passes.back().apart; }
  /// Returns whether later passes read a different value at the sites of this variable.
  bool changes(VarId initial) const;
};

/// Compares the reads of the subject's first pass with those of later passes. `written` is the
/// result of find_written() for the first pass.
Followed follow(const Subject& subject, std::vector<State> written);

}  // namespace leapp::state
