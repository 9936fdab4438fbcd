// Keeps two threads of Python from using one manager at once.
#pragma once

#include <atomic>

#include "leapp/error.h"

namespace leapp::python {

// Holds a manager for one call from Python, which is several of C++ and lets other threads run in
// between.
class Hold {
 public:
  explicit Hold(std::atomic<bool>& busy) : busy_(busy) {
    if (busy_.exchange(true, std::memory_order_acquire)) {
      throw Error(Code::kTwoThreads,
                  "two threads use this InferenceManager at once; give each thread a manager of "
                  "its own");
    }
  }
  ~Hold() { busy_.store(false, std::memory_order_release); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  std::atomic<bool>& busy_;
};

}  // namespace leapp::python
