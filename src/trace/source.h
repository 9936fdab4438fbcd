// The line of the user's program that called an operator.
//
// Every operator is recorded, so a location is first captured as a `FrameRef` (two words), and
// converted to text only when it is read. The front end supports the caller's language: the Python
// module installs hooks that read Python frames. Without hooks, and for C++ callers, the last
// std::source_location of an annotate call is used.
#pragma once

#include <source_location>

#include "ir/graph.h"
#include "leapp/visibility.h"

namespace leapp::trace {

/// A captured location. The owner of the hooks owns `code`, which stays valid while a session or
/// its records are alive.
struct FrameRef {
  const void* code = nullptr;
  int position = 0;

  bool operator==(const FrameRef&) const = default;
};

struct SourceHooks {
  FrameRef (*capture)() noexcept = nullptr;
  ir::SourceLocation (*resolve)(FrameRef) = nullptr;
  bool (*only_shown)(FrameRef) = nullptr;
};

/// Installs the front end's hooks for the whole process.
LEAPP_EXPORT void set_source_hooks(SourceHooks hooks) noexcept;

/// Returns the user's current location; cheap. Takes Python's interpreter lock through the hook, so
/// do not call it while holding a lock of LEAPP.
FrameRef capture_source() noexcept;

/// Returns the text of a captured location.
ir::SourceLocation resolve_source(FrameRef frame);

/// Returns the location as the beginning of a sentence: "policy.py:42 in forward: ", or "".
std::string line_prefix(FrameRef frame);

/// Returns whether the source shows that a number or bool from this line is only printed, logged or
/// asserted, so that its escape changes no model. Returns false if that is unknown. Takes Python's
/// interpreter lock through the hook.
bool only_shown(FrameRef frame);

/// Stores the location of a C++ caller of annotate, for operators for which no hook returns a
/// location.
void set_cpp_location(const std::source_location& where) noexcept;

}  // namespace leapp::trace
