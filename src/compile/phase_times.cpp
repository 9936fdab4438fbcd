#include "compile/phase_times.h"

#include <cstdio>

namespace leapp::compile {
namespace {

std::string in_seconds(std::chrono::duration<double> time) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f s", time.count());
  return text;
}

}  // namespace

std::string PhaseTimes::text() const {
  Clock::time_point end = Clock::now();
  const std::string whole = in_seconds(end - begun_.front().second);
  std::string phases;
  for (auto phase = begun_.rbegin(); phase != begun_.rend(); ++phase) {
    const std::string time = phase->first + " " + in_seconds(end - phase->second);
    phases = phases.empty() ? time : time + ", " + phases;
    end = phase->second;
  }
  return "Compiled in " + whole + ": " + phases;
}

}  // namespace leapp::compile
