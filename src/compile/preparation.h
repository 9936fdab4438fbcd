// What compile_graph() needs from disk, fetched while the program is being traced.
//
// ONNX Runtime, Graphviz and its fonts take 80 ms to load in a fresh process, which is most of what
// an export takes. None of it depends on what is traced.
#pragma once

#include "leapp/visibility.h"

namespace leapp::compile {

/// Begins to load them in a thread of its own, once per process; returns at once. What cannot be
/// loaded is left for compile_graph() to say. A process that forks waits for the thread first,
/// since a child would inherit its locks; so does one that ends. Thread-safe.
LEAPP_EXPORT void prepare() noexcept;

}  // namespace leapp::compile
