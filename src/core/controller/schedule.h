// Converts rates and periods to ticks of the loop. A value that is not a whole number of ticks is
// an error; nothing is rounded.
#pragma once

#include <cstddef>
#include <string>

namespace leapp {

/// Returns the number of ticks of the loop at `rate` Hz in that time, at least one. Throws Error
/// (LP653) with `what` if it is not a whole number.
std::size_t ticks_in(double seconds, double rate, const std::string& what);

/// The ticks in which a history is sampled, and the number of samples between two of its steps.
struct Sampling {
  std::size_t every = 1;   ///< ticks of the loop between two samples
  std::size_t stride = 1;  ///< samples between two steps
};

/// Returns the sampling for steps `period` ticks apart and a policy that runs every `decimation`
/// ticks. One must be a multiple of the other, so that the newest sample is taken when the policy
/// runs. Otherwise throws Error (LP653) with `what`.
Sampling find_sampling(std::size_t period, std::size_t decimation, const std::string& what);

}  // namespace leapp
