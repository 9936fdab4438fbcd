// Which calls of a later pass are those of an earlier one.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "trace/tape.h"

namespace leapp::trace {

/// Some calls of a tape, by index, as they run.
struct CallList {
  const Tape& tape;
  const std::vector<std::int32_t>& calls;
};

struct Alignment {
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;  ///< indices into the two tapes
  /// The first two calls that have no counterpart; -1 where that list has ended.
  std::optional<std::pair<std::int32_t, std::int32_t>> difference;
  /// Past differences: calls of the later pass that have none.
  std::vector<std::int32_t> added;
};

/// Pairs the same operators in order. If the two do not run the same operators throughout, calls of
/// different positions pair only if they use the same constants. A call that uses no node's values
/// may be missing on either side (a constant that is created once and kept, for example), and so
/// may one that changes nothing. Stops at the first difference.
Alignment align(const CallList& first, const CallList& again);

/// Does the same, but continues where the two run the same operators again.
Alignment align_past_differences(const CallList& first, const CallList& again);

/// Returns the first call that only the later pass ran, and whose result it used or left behind.
std::optional<std::int32_t> find_added_call(const Tape& again, const Alignment& aligned);

/// Notes for the results of a call what its counterpart has in their place: `as_first` is indexed
/// by variable of the later tape.
void pair_results(const Tape& first, const Call& was, const Tape& again, const Call& is,
                  std::vector<VarId>& as_first);

}  // namespace leapp::trace
