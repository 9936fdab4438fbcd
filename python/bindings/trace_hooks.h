// What Python adds to an export: names of weights, and PyTorch's own exporters.
#pragma once

namespace leapp::python {

/// Installs leapp._module_names and leapp._bridge as the hooks of compile_graph(). They are
/// imported when they are first needed.
void install_export_hooks();

/// Ends that; to be called before the interpreter goes away.
void remove_export_hooks();

}  // namespace leapp::python
