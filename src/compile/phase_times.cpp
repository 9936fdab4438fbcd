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

void PhaseTimes::next(std::string phase) {
  const Clock::time_point now = Clock::now();
  if (!phase_.empty()) done_.emplace_back(std::move(phase_), now - began_);
  phase_ = std::move(phase);
  began_ = now;
}

std::string PhaseTimes::text() {
  next("");
  std::chrono::duration<double> sum{0};
  std::string phases;
  for (const auto& [phase, time] : done_) {
    sum += time;
    phases += (phases.empty() ? "" : ", ") + phase + " " + in_seconds(time);
  }
  return "Compiled in " + in_seconds(sum) + ": " + phases;
}

}  // namespace leapp::compile
