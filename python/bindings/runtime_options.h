// The keyword arguments of InferenceManager as options of the runtime.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <cmath>

#include "leapp/inference_manager.h"

namespace leapp::python {

/// Options from a dict with a key for each, the engine's in dicts of their own. Throws an Error
/// that names the one that is wrong.
RuntimeOptions runtime_options(const pybind11::dict& settings);

/// Does the same for the keys engine, trust and allow_native alone: those that a controller does
/// not set.
RuntimeOptions model_options(const pybind11::dict& settings);

/// Times are seconds in Python.
inline double to_seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}
/// Converts seconds. Times beyond what nanoseconds can count (292 years) are the longest there is;
/// NaN is, too.
inline std::chrono::nanoseconds from_seconds(double seconds) {
  constexpr double kMost = 9.2e9;
  if (!(seconds < kMost)) return std::chrono::nanoseconds::max();
  if (seconds < -kMost) return std::chrono::nanoseconds::min();
  return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

}  // namespace leapp::python
