// A first pass before the program's own.
#pragma once

#include "leapp/visibility.h"

namespace leapp::session {

/// Traces one small pass in a session of its own, so that the first pass of the program is not
/// slower than the others: its code and PyTorch's tables are cold when a program starts to trace.
/// Touches nothing of the program's session. Does nothing on a thread whose operators are not
/// observed, for example inside a transform of functorch.
LEAPP_EXPORT void warm_up();

}  // namespace leapp::session
