// The collection of all diagnostics of a program.
//
// Duplicates are dropped. Each diagnostic is logged immediately and kept, so that a front end can
// list all of them, most harmful first.
//
// Thread-safe. add() calls the log sink, so it must not be called while a lock is held.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "leapp/trace/diagnostic.h"

namespace leapp {

class LEAPP_EXPORT Diagnostics {
 public:
  /// Logs and keeps the diagnostic, unless it is a duplicate. Returns whether it was new.
  bool add(Diagnostic diagnostic);

  /// Returns all diagnostics, the most harmful first, and equally harmful ones in order.
  std::vector<Diagnostic> by_harm() const;

  void clear();

 private:
  mutable std::mutex mutex_;
  std::vector<Diagnostic> said_;
};

}  // namespace leapp
