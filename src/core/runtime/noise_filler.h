// Fills the noise ports of a pipeline before their nodes run: B44.
//
// Draws depend only on the seed, the port, and the number of the run, which follows from the tick.
// So an undone or failed tick draws the same numbers again. No function allocates after
// construction, locks or makes a system call. Not thread-safe; the plan and the buffers must
// outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "leapp/engine.h"
#include "leapp/result.h"
#include "runtime/buffers.h"
#include "runtime/plan.h"

namespace leapp {

class NoiseFiller {
 public:
  /// Creates a filler. `memory` is the device that holds the values; null: the host.
  NoiseFiller(const Plan& plan, const Buffers& buffers, DeviceMemory* memory, std::uint64_t seed);

  void set_seed(std::uint64_t seed) noexcept { seed_ = seed; }
  /// Sets whether the caller supplies the values of a port, which fill() then leaves alone. `port`
  /// is an index into Plan::noise.
  void set_supplied(std::size_t port, bool supplied) noexcept { supplied_[port] = supplied; }

  /// Sets the values of a port for each run of its node in a tick, which fill() then copies. Null
  /// ends it.
  void set_runs(std::size_t port, const void* values) noexcept { runs_[port] = values; }

  /// Writes one draw to each noise port of a step. Draws are numbered by tick * repeat + run.
  Result<void> fill(std::size_t step, std::uint64_t number, std::uint64_t run = 0) noexcept;

 private:
  const Plan& plan_;
  const Buffers& buffers_;
  DeviceMemory* memory_;
  std::uint64_t seed_;
  std::vector<bool> supplied_;
  std::vector<const void*> runs_;  // by port
  std::vector<float> scratch_;     // a draw for a device
};

}  // namespace leapp
