// Access to the values of a port in its own memory, as doubles.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "leapp/dtype.h"
#include "leapp/robot_binding.h"

namespace leapp {

/// Writes one time step. The port is float32 or float64.
inline void store_step(void* memory, DType dtype, const PortLayout& layout, std::size_t step,
                       std::span<const double> values) noexcept {
  const std::size_t first = step * layout.step_stride;
  if (dtype == DType::kFloat32) {
    float* const to = static_cast<float*>(memory) + first;
    for (std::size_t i = 0; i < values.size(); ++i) {
      to[i * layout.element_stride] = static_cast<float>(values[i]);
    }
  } else {
    double* const to = static_cast<double*>(memory) + first;
    for (std::size_t i = 0; i < values.size(); ++i) to[i * layout.element_stride] = values[i];
  }
}

/// Reads one time step.
inline void load_step(const void* memory, DType dtype, const PortLayout& layout, std::size_t step,
                      std::span<double> values) noexcept {
  const std::size_t first = step * layout.step_stride;
  if (dtype == DType::kFloat32) {
    const float* const from = static_cast<const float*>(memory) + first;
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<double>(from[i * layout.element_stride]);
    }
  } else {
    const double* const from = static_cast<const double*>(memory) + first;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = from[i * layout.element_stride];
  }
}

/// Reads one element. Returns 0 for types that ports of a robot do not have.
inline double load_value(const void* memory, DType dtype, std::size_t index) noexcept {
  switch (dtype) {
    case DType::kFloat32:
      return static_cast<double>(static_cast<const float*>(memory)[index]);
    case DType::kFloat64:
      return static_cast<const double*>(memory)[index];
    case DType::kInt64:
      return static_cast<double>(static_cast<const std::int64_t*>(memory)[index]);
    case DType::kInt32:
      return static_cast<double>(static_cast<const std::int32_t*>(memory)[index]);
    case DType::kBool:
    case DType::kUInt8:
      return static_cast<double>(static_cast<const std::uint8_t*>(memory)[index]);
    default:
      return 0;
  }
}

/// Returns whether all values are finite. Uses one sum instead of a branch per value.
inline bool are_finite(std::span<const double> values) noexcept {
  double sum = 0;
  for (const double value : values) sum += value * 0.0;
  return sum == 0.0;
}

/// Returns whether all values are finite in the port's type.
inline bool are_finite_as(DType dtype, std::span<const double> values) noexcept {
  if (dtype != DType::kFloat32) return are_finite(values);
  constexpr double kRoundsToInfinity = 0x1.ffffffp127;  // half a step above the largest float
  for (const double value : values) {
    if (!(std::abs(value) < kRoundsToInfinity)) return false;
  }
  return true;
}

}  // namespace leapp
