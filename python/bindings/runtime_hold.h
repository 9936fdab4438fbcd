// Prevents two Python calls from using one object at the same time.
#pragma once

#include <atomic>
#include <string>

#include "leapp/error.h"

namespace leapp::python {

// Reserves an object for one Python call, which may consist of several C++ calls, release the
// interpreter lock, and call Python.
class Hold {
 public:
  explicit Hold(std::atomic<bool>& busy, const char* type = "InferenceManager") : busy_(busy) {
    if (busy_.exchange(true, std::memory_order_acquire)) {
      throw Error(Code::kTwoThreads,
                  "two calls use this " + std::string(type) +
                      " at once, from two threads or from a function that one of them calls; make "
                      "one after the other, or give each thread its own");
    }
  }
  ~Hold() { busy_.store(false, std::memory_order_release); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  std::atomic<bool>& busy_;
};

}  // namespace leapp::python
