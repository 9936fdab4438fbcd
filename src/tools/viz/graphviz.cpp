#include "viz/graphviz.h"

#include <dlfcn.h>

#include <cstddef>
#include <memory>
#include <mutex>

#include "base/check.h"

namespace leapp::viz {
namespace {

// Graphviz's own types are only passed by pointer.
struct Context;
struct Graph;

/// The functions of libgvc and libcgraph that LEAPP uses, with the signatures of their C headers.
struct Library {
  Context* (*gvContext)();
  int (*gvLayout)(Context*, Graph*, const char* engine);
  int (*gvFreeLayout)(Context*, Graph*);
  // Up to version 9 the length is an unsigned int; a zeroed size_t works for both on little-endian
  // machines.
  int (*gvRenderData)(Context*, Graph*, const char* format, char** result, std::size_t* length);
  void (*gvFreeRenderData)(char*);
  Graph* (*agmemread)(const char* text);
  int (*agclose)(Graph*);
  int (*(*agseterrf)(int (*)(char*)))(char*);
  // One context for all pictures, never freed, because Graphviz's font code keeps pointers into it.
  Context* context;
};

template <typename Function>
void find(void* handle, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(handle, name));
  require(function != nullptr, Code::kNotDrawn,
          std::string("the Graphviz library has no function ") + name);
}

void* open_library() {
  for (const char* name : {"libgvc.so.6", "libgvc.so.7", "libgvc.so", "libgvc.6.dylib"}) {
    if (void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  throw Error(Code::kNotDrawn,
              "cannot draw: the Graphviz library (libgvc) was not found; install it, on Debian "
              "with: apt install graphviz");
}

const Library& library() {
  static const Library loaded = [] {
    void* const handle = open_library();
    Library functions{};
    find(handle, "gvContext", functions.gvContext);
    find(handle, "gvLayout", functions.gvLayout);
    find(handle, "gvFreeLayout", functions.gvFreeLayout);
    find(handle, "gvRenderData", functions.gvRenderData);
    find(handle, "gvFreeRenderData", functions.gvFreeRenderData);
    find(handle, "agmemread", functions.agmemread);
    find(handle, "agclose", functions.agclose);
    find(handle, "agseterrf", functions.agseterrf);
    functions.context = functions.gvContext();
    require(functions.context != nullptr, Code::kNotDrawn,
            "cannot draw: Graphviz could not be started");
    return functions;
  }();
  return loaded;
}

std::string complaints;  // messages of the current picture; guarded by drawing_mutex
std::mutex drawing_mutex;

/// Stores a message that Graphviz would print.
int note_complaint(char* text) {
  complaints += text;
  return 0;
}

[[noreturn]] void fail(const std::string& what) {
  throw Error(Code::kNotDrawn,
              "cannot draw: Graphviz " + what + (complaints.empty() ? "" : ": " + complaints));
}

}  // namespace

std::string render(const std::string& dot, const std::string& format) {
  const std::lock_guard lock(drawing_mutex);
  const Library& graphviz = library();
  complaints.clear();
  graphviz.agseterrf(&note_complaint);
  const std::unique_ptr<Graph, int (*)(Graph*)> graph(graphviz.agmemread(dot.c_str()),
                                                      graphviz.agclose);
  if (!graph) fail("cannot parse the graph");
  if (graphviz.gvLayout(graphviz.context, graph.get(), "dot") != 0) fail("cannot lay it out");
  char* data = nullptr;
  std::size_t length = 0;
  const int code =
      graphviz.gvRenderData(graphviz.context, graph.get(), format.c_str(), &data, &length);
  const std::string picture = code == 0 && data ? std::string(data, length) : std::string();
  if (data) graphviz.gvFreeRenderData(data);
  graphviz.gvFreeLayout(graphviz.context, graph.get());
  if (picture.empty()) fail("cannot render " + format);
  return picture;
}

}  // namespace leapp::viz
