// A program to trace, and to run again with its bundle in a shadow run.
#pragma once

#include <functional>

#include "end_to_end/workbench.h"
#include "leapp/log.h"
#include "leapp/trace/shadow.h"

namespace leapp::testing {

class ShadowProgramTest : public Workbench {
 protected:
  // Traces some calls of the step, and exports them.
  void trace(const std::function<void()>& step, int passes = 3) {
    const at::NoGradGuard no_grad;
    begin();
    for (int i = 0; i < passes; ++i) step();
    stop();
    compile_graph({.visualize = false});
  }

  ShadowReport shadow(const std::function<void(Shadow&)>& episode) {
    Shadow run(file("g.yaml"));
    episode(run);
    return run.report();
  }
};

// y = h + x, then h = y; h is an undeclared attribute.
struct Integrator {
  at::Tensor h = at::zeros({2});
  int tick = 0;
  int jump = -1;  // the tick in which it computes something else

  void step() {
    const at::Tensor x = annotate::input_tensors("pi", {{"x", at::randn({2})}})[0];
    h.add_(x);
    at::Tensor y = h * 2;
    if (++tick == jump) y = y + 1;
    annotate::output_tensors("pi", {{"y", y}}, {.export_with = "jit"});
  }
};

}  // namespace leapp::testing
