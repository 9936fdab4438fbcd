// A point at which a long task may end early.
#pragma once

#include <functional>

#include "leapp/visibility.h"

namespace leapp {

/// A function that asks the caller of a task if the task is cancelled.
///
/// Tasks call it between steps, when nothing is half done, and never inside a `try` block that
/// treats exceptions as results. Copies call the same function. Call it only on the thread of the
/// task.
class LEAPP_EXPORT Checkpoint {
 public:
  Checkpoint() = default;  ///< never cancels
  /// Takes a function that may be empty. An exception of the function also ends the task.
  explicit Checkpoint(std::function<bool()> is_cancelled);

  /// Throws Error(kCancelled) if the task is cancelled.
  void operator()() const;

 private:
  std::function<bool()> is_cancelled_;
};

}  // namespace leapp
