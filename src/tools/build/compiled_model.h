// One generated C++ node, compiled and loaded at once: for validating what was just exported.
#pragma once

#include <filesystem>
#include <memory>

#include "leapp/engine.h"
#include "leapp/visibility.h"

namespace leapp {

/// Compiles the node's source for this machine, quickly rather than well, and loads it. `file` is
/// the source, with its weights beside it. Throws Error(kNoCompiler) with what the compiler said.
LEAPP_EXPORT std::unique_ptr<Engine> compile_cpp_model(const Model& model,
                                                       const std::filesystem::path& file);

}  // namespace leapp
