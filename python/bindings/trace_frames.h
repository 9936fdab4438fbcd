// The user's line, read from Python's frames.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace leapp::python {

/// Makes Python frames the source of user lines for the whole process. A frame whose file lies
/// under one of `library_folders` (PyTorch, this package, ..) or `standard_library` is passed over,
/// outwards to the caller it works for; packages installed inside the standard library's folder are
/// not. The interpreter lock must be held.
void install_frame_hooks(std::vector<std::string> library_folders, std::string standard_library);

/// Ends that; to be called before the interpreter goes away.
void remove_frame_hooks() noexcept;

/// The user's current line; unknown on a thread without Python.
ir::SourceLocation current_location();

}  // namespace leapp::python
