// From the robot's sensors to the inputs of the policy: gathered by name, converted, checked.
#pragma once

#include <chrono>
#include <vector>

#include "controller/history_ring.h"
#include "controller/intervention_log.h"
#include "controller/limiter.h"
#include "controller/signals.h"
#include "leapp/controller.h"

namespace leapp {

/// Allocates when it is made; sample(), find_stale() and fill() do not.
class InputSide {
 public:
  enum class Outcome { kGood, kBad, kStop };

  /// `sensors` and `manager` must outlive it, and `sensors` keep its place.
  InputSide(InferenceManager& manager, const RobotBinding& binding,
            const std::vector<SignalValues>& sensors, double rate, std::size_t decimation);

  /// Forgets histories and former values, and says to the manager that its inputs are there.
  void start();

  /// Takes those samples of histories that are due in this tick of the loop.
  void sample(std::uint64_t tick, InterventionLog& log) noexcept;

  /// Whether an input is too old, or was never measured; then it is in the log.
  bool is_stale(std::uint64_t tick, std::chrono::nanoseconds now, InterventionLog& log) noexcept;

  /// Writes what the policy reads. Bad values are in the log, and the policy must not run.
  Outcome fill(std::uint64_t tick, InterventionLog& log) noexcept;

  /// The memory of an input, for recording it.
  const TensorView& view(std::size_t input) const noexcept { return inputs_[input].view; }

 private:
  struct Source {
    const double* value;
    double factor;
  };
  struct Input {
    std::string name;
    InputPort port;
    TensorView view;
    PortLayout layout;
    std::vector<Source> sources;
    std::vector<const SignalValues*> signals;
    std::chrono::nanoseconds max_age = std::chrono::nanoseconds::max();
    Limiter limiter;
    std::vector<double> values;
    HistoryRing history;    // where there is a time axis
    std::size_t every = 0;  // ticks between two samples; 0 without a time axis
    bool good = true;       // of the last sample
  };

  Outcome read(Input& input, std::uint64_t tick, InterventionLog& log) noexcept;

  InferenceManager& manager_;
  std::vector<Input> inputs_;
  bool stop_ = false;  // a sample was beyond limits that say so
};

}  // namespace leapp
