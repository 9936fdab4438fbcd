// The line of the user's program that called an operation.
//
// Recording happens on every operation, so a location is first captured as a `FrameRef` (two words)
// and only turned into text when somebody reads it. Which language the caller speaks is the front
// end's business: Python's module installs hooks that look at Python frames; without hooks, and for
// C++ callers, the last std::source_location given to an annotate call serves.
#pragma once

#include <source_location>

#include "ir/graph.h"
#include "leapp/visibility.h"

namespace leapp::trace {

/// A captured place. `code` belongs to whoever installed the hooks and stays valid while a session
/// or what it recorded is alive.
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

/// Returns the user's current place; cheap. Takes Python's interpreter lock through the hook, so it
/// must not be called while holding one of our locks.
FrameRef capture_source() noexcept;

/// Returns the text of a captured place.
ir::SourceLocation resolve_source(FrameRef frame);

/// Does the same as the beginning of a sentence about it: "policy.py:42 in forward: ", or "".
std::string line_prefix(FrameRef frame);

/// Returns whether the program's text shows that a number or bool made at this place is
/// printed, logged or asserted, and nothing else: such an escape changes no model. Returns false if
/// that is unknown. Takes Python's interpreter lock through the hook.
bool only_shown(FrameRef frame);

/// Remembers where a C++ caller of annotate stands; used for operations when no hook answers.
void set_cpp_location(const std::source_location& where) noexcept;

}  // namespace leapp::trace
