// Result of InferenceManager::verify(): a comparison of this machine with the traced ticks.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "leapp/comparison.h"
#include "leapp/visibility.h"

namespace leapp {

/// One output in one golden tick, compared with the trace.
struct PortVerification {
  std::string port;      ///< "policy/action"
  std::size_t tick = 0;  ///< counted from 0
  bool wired = false;    ///< computed by the pipeline with feedback; otherwise by its node alone
  Comparison comparison;
};

/// A plain value. `comparison.traced` is the value in the bundle, `exported` the one computed on
/// this machine.
struct Verification {
  std::size_t ticks = 0;                 ///< number of replayed ticks
  std::vector<PortVerification> checks;  ///< single nodes first, then the pipeline; by tick
  /// Reason for each output that was not compared, for example that its node draws random numbers.
  std::vector<std::pair<std::string, std::string>> left_out;

  /// Returns whether any element was compared.
  LEAPP_EXPORT bool compared() const noexcept;
  /// Returns whether at least one value was compared, and all compared values agree within their
  /// tolerance.
  LEAPP_EXPORT bool passed() const noexcept;
};

/// Returns text with the verdict, and for each port the largest error of its node alone and in the
/// pipeline, with the tick.
LEAPP_EXPORT std::string to_string(const Verification& verification);

/// Returns a JSON document with every figure.
LEAPP_EXPORT std::string to_json(const Verification& verification);

}  // namespace leapp
