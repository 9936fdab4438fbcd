// The keyword arguments of InferenceManager as options of the runtime.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <cmath>

#include "leapp/inference_manager.h"

namespace leapp::python {

/// Returns the options in a dict with a key for each; those of the engine are in nested dicts.
/// Throws an Error that names an invalid option.
RuntimeOptions runtime_options(const pybind11::dict& settings);

/// Returns only the options engine, trust and allow_native, which a controller does not set itself.
RuntimeOptions model_options(const pybind11::dict& settings);

/// Times are seconds in Python.
inline double to_seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}
/// Converts seconds. A time that does not fit 64-bit nanoseconds (292 years), and NaN, become the
/// longest time.
inline std::chrono::nanoseconds from_seconds(double seconds) {
  constexpr double kMost = 9.2e9;
  if (!(seconds < kMost)) return std::chrono::nanoseconds::max();
  if (seconds < -kMost) return std::chrono::nanoseconds::min();
  return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

}  // namespace leapp::python
