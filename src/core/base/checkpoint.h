// A place at which a long task may end early.
#pragma once

#include <functional>

#include "leapp/visibility.h"

namespace leapp {

/// Asks the caller of a task whether the task is cancelled.
///
/// Tasks call it between steps that leave nothing half done, and never inside a `try` that takes
/// exceptions for results. Copies ask the same function. Call it on the thread of the task only.
class LEAPP_EXPORT Checkpoint {
 public:
  Checkpoint() = default;  ///< never ends anything
  /// Takes a function that may be empty. What it throws ends the task, too.
  explicit Checkpoint(std::function<bool()> is_cancelled);

  /// Throws Error(kCancelled) if the task is cancelled.
  void operator()() const;

 private:
  std::function<bool()> is_cancelled_;
};

}  // namespace leapp
