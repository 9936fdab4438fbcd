// Whether a machine repeats the ticks that were traced: what InferenceManager::verify() finds.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "leapp/comparison.h"
#include "leapp/visibility.h"

namespace leapp {

/// One output in one golden tick, compared with what was traced.
struct PortVerification {
  std::string port;      ///< "policy/action"
  std::size_t tick = 0;  ///< counted from 0
  bool wired = false;    ///< computed by the pipeline, feedback closed; else by its node alone
  Comparison comparison;
};

/// A plain value. `comparison.traced` is what the bundle holds, `exported` what was computed here.
struct Verification {
  std::size_t ticks = 0;                 ///< that were replayed
  std::vector<PortVerification> checks;  ///< nodes alone, then the pipeline; by tick
  /// Values that were not compared, and why: a node that draws random numbers, for example.
  std::vector<std::pair<std::string, std::string>> left_out;

  /// Returns whether any element was compared.
  LEAPP_EXPORT bool compared() const noexcept;
  /// Returns whether something was compared, and all of it agrees within its tolerance.
  LEAPP_EXPORT bool passed() const noexcept;
};

/// Returns text: for each port the largest error of its node alone and in the pipeline, with the
/// tick, and the verdict.
LEAPP_EXPORT std::string to_string(const Verification& verification);

/// Returns a JSON document with every figure.
LEAPP_EXPORT std::string to_json(const Verification& verification);

}  // namespace leapp
