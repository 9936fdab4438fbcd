#include "compile/preparation.h"

#include <pthread.h>

#include <exception>
#include <future>

#include "runtime/engines/onnx/onnx_engine.h"
#include "viz/draw.h"

namespace leapp::compile {
namespace {

// Loads all libraries. Each is loaded once, at the first request. Failures are reported when the
// library is used.
void load() noexcept {
  for (void (*const preload)() : {preload_onnxruntime, preload_graphviz}) {
    try {
      preload();
    } catch (const std::exception&) {
    }
  }
}

// Waits for the thread in its destructor, at the end of the process, and before a fork.
const std::future<void>& loading() {
  static const std::future<void> only = [] {
    std::future<void> begun = std::async(std::launch::async, load);
    pthread_atfork([] { loading().wait(); }, nullptr, nullptr);
    return begun;
  }();
  return only;
}

}  // namespace

void prepare() noexcept {
  try {
    loading();
  } catch (const std::exception&) {  // no thread available: compile_graph() loads them when needed
  }
}

}  // namespace leapp::compile
