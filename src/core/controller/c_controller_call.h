// Code that the C interfaces of Controller and Supervisor share.
#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "leapp/c_controller.h"
#include "leapp/controller.h"
#include "runtime/c_call.h"

namespace leapp::c {

/// Throws Error (LP653).
ControllerOptions controller_options(const leapp_controller_options* caller);

/// Sets a sensor of a controller or supervisor; the age is in seconds.
template <typename Loop>
leapp_status set_sensor(Loop& loop, std::size_t sensor, const double* values, std::size_t count,
                        double age) noexcept {
  if (values == nullptr) return is_null("values");
  constexpr double kMost = 9.2e9;       // seconds that nanoseconds can count
  std::chrono::nanoseconds age_ns(-1);  // negative and NaN: refused
  if (age >= 0) {
    age_ns = age < kMost ? std::chrono::nanoseconds(std::llround(age * 1e9))
                         : std::chrono::nanoseconds::max();
  }
  const Result<void> set = loop.set_sensor(sensor, std::span(values, count), age_ns);
  return set ? LEAPP_OK : fail(set.failure());
}

/// Copies as many counts as fit. Counts that the library does not know are 0.
template <typename Counts>
void copy_counts(const Counts& all, std::uint64_t* counts, std::size_t room) noexcept {
  for (std::size_t i = 0; i < room; ++i) counts[i] = i < all.size() ? all[i] : 0;
}

}  // namespace leapp::c
