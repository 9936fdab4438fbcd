// The one place where what is said of a program comes together.
//
// Whoever has something to say adds it; what was said already is not said again. Each is logged at
// once, and kept, so that a front end can ask for all of it afterwards in one order: most harmful
// first.
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
  /// Logs it and keeps it, unless the same was said before. Returns whether it was new.
  bool add(Diagnostic diagnostic);

  /// Returns all diagnostics, the most harmful first, and equally harmful ones in order.
  std::vector<Diagnostic> by_harm() const;

  void clear();

 private:
  mutable std::mutex mutex_;
  std::vector<Diagnostic> said_;
};

}  // namespace leapp
