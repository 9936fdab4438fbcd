// An error that was found while the session's lock was held.
#pragma once

#include <string>
#include <utility>

#include "leapp/code.h"
#include "session/record/node.h"
#include "trace/source.h"

namespace leapp::session {

/// An error whose source line is not text yet. Reading the line may need Python's interpreter lock,
/// so it is done after the session's lock is released: see locked() in session_lock.h.
struct PlacedError {
  Code code = Code::kUsage;
  std::string text;
  trace::FrameRef where = {};  ///< empty: the line of the annotation that failed
};

[[noreturn]] inline void refuse(Code code, std::string text, trace::FrameRef where = {}) {
  throw PlacedError{code, std::move(text), where};
}

/// Refuses a pass whose ports differ from those of the node's first pass.
[[noreturn]] inline void refuse_new_signature(const Node& node, const std::string& what) {
  refuse(Code::kNewSignature, "Reentering " + node.name + " with new i/o: " + what);
}

}  // namespace leapp::session
