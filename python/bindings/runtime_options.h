// The keyword arguments of InferenceManager as options of the runtime.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "leapp/error.h"
#include "leapp/inference_manager.h"

namespace leapp::python {

/// Throws Error (LP002): "threads must be a whole number, not str".
[[noreturn]] void wrong_setting(const std::string& name, pybind11::handle value,
                                const std::string& expected);

/// Returns the value of a setting as a T. Throws Error (LP002) that names the setting; for a whole
/// number that T cannot hold it says which it can (LP003).
template <typename T>
T setting(const std::string& name, pybind11::handle value, const std::string& expected) {
  try {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (PyBool_Check(value.ptr()) != 0) wrong_setting(name, value, expected);
    }
    return value.cast<T>();
  } catch (const pybind11::cast_error&) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (PyLong_Check(value.ptr()) != 0) {
        throw Error(Code::kWrongValue, name + " must be " + expected + " from " +
                                           std::to_string(std::numeric_limits<T>::min()) + " to " +
                                           std::to_string(std::numeric_limits<T>::max()) +
                                           ", not " +
                                           std::string(pybind11::str(value)).substr(0, 40));
      }
    }
    wrong_setting(name, value, expected);
  }
}

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
