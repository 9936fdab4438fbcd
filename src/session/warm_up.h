// A small pass that is traced before the program's own first pass.
#pragma once

#include "leapp/visibility.h"

namespace leapp::session {

/// Traces one small pass in a separate session, so that the program's first pass is not slower than
/// the others; otherwise it would load code and PyTorch's tables into the caches. Does not affect
/// the program's session. Does nothing on a thread whose operators are not observed, for example
/// inside a transform of functorch.
LEAPP_EXPORT void warm_up();

}  // namespace leapp::session
