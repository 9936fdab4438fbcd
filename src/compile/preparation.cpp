#include "compile/preparation.h"

#include <pthread.h>

#include <exception>
#include <mutex>
#include <thread>

#include "runtime/engines/onnx/onnx_engine.h"
#include "viz/draw.h"

namespace leapp::compile {
namespace {

// Each of them waits for itself to be loaded, whoever asks. What fails is said where it is needed.
void load() noexcept {
  for (void (*const preload)() : {preload_onnxruntime, preload_graphviz}) {
    try {
      preload();
    } catch (const std::exception&) {
    }
  }
}

class Loader {
 public:
  void begin() {
    const std::lock_guard lock(mutex_);
    if (began_) return;
    began_ = true;
    pthread_atfork([] { loader().wait(); }, nullptr, nullptr);
    thread_ = std::thread(load);
  }

  void wait() {
    const std::lock_guard lock(mutex_);
    if (thread_.joinable()) thread_.join();
  }

  ~Loader() { wait(); }

  static Loader& loader() {
    static Loader only;
    return only;
  }

 private:
  std::mutex mutex_;
  std::thread thread_;
  bool began_ = false;
};

}  // namespace

void prepare() noexcept {
  try {
    Loader::loader().begin();
  } catch (const std::exception&) {  // no thread to be had: compile_graph() loads as it goes
  }
}

}  // namespace leapp::compile
