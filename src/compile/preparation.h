// Loads libraries for compile_graph() while the program is being traced.
//
// ONNX Runtime, Graphviz and its fonts take 80 ms to load in a fresh process, which is most of the
// time of an export. None of them depends on the trace.
#pragma once

#include "leapp/visibility.h"

namespace leapp::compile {

/// Starts to load them in a separate thread, once per process; returns immediately. compile_graph()
/// reports what cannot be loaded. A fork waits for the thread first, because a child would inherit
/// its locks; so does the end of the process. Thread-safe.
LEAPP_EXPORT void prepare() noexcept;

}  // namespace leapp::compile
