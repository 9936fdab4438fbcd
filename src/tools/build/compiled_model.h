// One generated C++ node, compiled and loaded immediately, for the validation of a new export.
#pragma once

#include <filesystem>
#include <memory>

#include "leapp/engine.h"
#include "leapp/visibility.h"

namespace leapp {

/// Compiles the node's source for this machine, with little optimisation, and loads it. `file` is
/// the source, next to its weights. Throws Error(kNoCompiler) with the compiler's output.
LEAPP_EXPORT std::unique_ptr<Engine> compile_cpp_model(const Model& model,
                                                       const std::filesystem::path& file);

}  // namespace leapp
