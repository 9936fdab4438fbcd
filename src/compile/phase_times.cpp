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

void PhaseTimes::end(const std::string& phase) {
  const Clock::time_point now = Clock::now();
  phases_ += (phases_.empty() ? "" : ", ") + phase + " " + in_seconds(now - ended_);
  ended_ = now;
}

std::string PhaseTimes::to_string() const {
  return in_seconds(ended_ - began_) + ": " + phases_;
}

}  // namespace leapp::compile
