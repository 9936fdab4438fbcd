#include "controller/schedule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "leapp/error.h"

namespace leapp {
namespace {

/// Returns whether a number of ticks is that whole number; frequencies are written with few digits.
bool is_about(double ticks, double whole) {
  constexpr double kTolerance = 1e-6;
  return std::abs(ticks - whole) <= kTolerance * whole;
}

std::string short_text(double number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number,
                                     std::chars_format::general, 10)
                           .ptr};
}

}  // namespace

std::size_t ticks_in(double seconds, double rate, const std::string& what) {
  constexpr double kMostTicks = 1e9;
  const double ticks = seconds * rate;
  const double whole = std::round(ticks);
  if (!(whole >= 1 && whole <= kMostTicks && is_about(ticks, whole))) {
    throw Error(Code::kControllerOptions,
                what + " is " + short_text(ticks) + " ticks of a loop at " + short_text(rate) +
                    " Hz; it must be a whole number of ticks, from 1 to 1e9. Change the rate of "
                    "the loop.");
  }
  return static_cast<std::size_t>(whole);
}

std::size_t ticks_that_cover(double seconds, double rate) {
  constexpr double kMostTicks = 1e18;  // which a tick counter can hold
  const double ticks = seconds * rate;
  const double whole = is_about(ticks, std::round(ticks)) ? std::round(ticks) : std::ceil(ticks);
  return static_cast<std::size_t>(std::min(whole, kMostTicks));
}

Sampling find_sampling(std::size_t period, std::size_t decimation, const std::string& what) {
  const std::size_t every = std::min(period, decimation);
  if (period % every != 0 || decimation % every != 0) {
    throw Error(Code::kControllerOptions, what + " has steps " + std::to_string(period) +
                                              " ticks apart, and the policy runs "
                                              "every " +
                                              std::to_string(decimation) +
                                              " ticks; one must be a multiple of the other");
  }
  return {every, period / every};
}

}  // namespace leapp
