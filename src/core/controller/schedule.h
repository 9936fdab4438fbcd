// Converts rates and periods to ticks of the loop. A time within a millionth of a whole number of
// ticks is that number: R1 of docs/reference/controller.md.
#pragma once

#include <cstddef>
#include <string>

namespace leapp {

/// Returns the number of ticks of the loop at `rate` Hz in that time, at least one. Throws Error
/// (LP653) with `what` if it is not a whole number.
std::size_t ticks_in(double seconds, double rate, const std::string& what);

/// Returns the number of ticks that last at least that time. At most 10^18.
std::size_t ticks_that_cover(double seconds, double rate);

/// Number of times a history is sampled, and how many samples lie between two of its steps.
struct Sampling {
  std::size_t every = 1;   ///< ticks of the loop between two samples
  std::size_t stride = 1;  ///< samples between two steps
};

/// Returns the sampling for steps `period` ticks apart and a policy that runs every `decimation`
/// ticks. One must be a multiple of the other, so that the newest sample is taken when the policy
/// runs. Otherwise throws Error (LP653) with `what`.
Sampling find_sampling(std::size_t period, std::size_t decimation, const std::string& what);

}  // namespace leapp
