// What Python adds to a session: eyes for what no operator shows, names, PyTorch's own exporters.
#pragma once

namespace leapp::python {

/// Installs leapp._detect, leapp._names and leapp._bridge as hooks of the session
/// (session/hooks.h). They are imported when they are first needed. The interpreter lock must be
/// held.
void install_hooks();

/// Ends that; to be called before the interpreter goes away.
void remove_hooks();

}  // namespace leapp::python
