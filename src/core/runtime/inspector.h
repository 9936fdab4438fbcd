// Computes values inside merged nodes: runs the nodes one by one on the last inputs of the merged
// graph.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "leapp/engine.h"
#include "leapp/inference_manager.h"
#include "leapp/tensor.h"
#include "runtime/plan.h"
#include "runtime/session.h"

namespace leapp {

/// For one step of a plan. Loads the models of its nodes, which the merged graph does not need.
class Inspector {
 public:
  Inspector(const Bundle& bundle, const PlannedStep& step, const RuntimeOptions& options);

  /// Returns the value of the port "node/port" in the tick for which `read` returns the step's
  /// inputs by "node/port". Throws Error if a node fails.
  Tensor value(const std::string& port, const std::function<Tensor(const std::string&)>& read);

 private:
  Bundle part_;
  RuntimeOptions options_;
  std::vector<std::unique_ptr<Engine>> engines_;
  Plan plan_;
  std::unique_ptr<Session> session_;
};

}  // namespace leapp
