// Pairs the calls of a later pass with those of an earlier one.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "trace/tape.h"

namespace leapp::trace {

/// Some calls of a tape, by index, in the order of execution.
struct CallList {
  const Tape& tape;
  const std::vector<std::int32_t>& calls;
};

struct Alignment {
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;  ///< indices into the two tapes
  /// The first two calls without a counterpart; -1 if the list has ended.
  std::optional<std::pair<std::int32_t, std::int32_t>> difference;
  /// Beyond differences: calls of the later pass without a counterpart.
  std::vector<std::int32_t> added;
};

/// Pairs the same operators in order, and stops at the first difference. A call may be missing on
/// either side if it uses no node's values (for example a constant that is created once and kept),
/// or if it changes nothing. If the lists differ in their operators, calls from different lines of
/// the program pair only if they use the same constants.
Alignment align(const CallList& first, const CallList& again);

/// Pairs calls in the same way, but continues if both run the same operators again.
Alignment align_past_differences(const CallList& first, const CallList& again);

/// Returns the first call that only the later pass ran, and whose result it used or stored.
std::optional<std::int32_t> find_added_call(const Tape& again, const Alignment& aligned);

/// Stores for each result of a call the corresponding result of its counterpart: `as_first` is
/// indexed by variable of the later tape.
void pair_results(const Tape& first, const Call& was, const Tape& again, const Call& is,
                  std::vector<VarId>& as_first);

}  // namespace leapp::trace
