// Opens the library that build_native() compiled, after checking it. Its code then runs in this
// process.
#pragma once

#include <memory>

#include "leapp/engine.h"

namespace leapp {

/// Returns the EngineFactory of the backend "cpp". Throws Error: kNativeNotAllowed unless the
/// caller allows machine code, kNotBuilt if it was not compiled, kStaleBuild if it was compiled
/// from a different source or for a different machine.
LEAPP_EXPORT std::unique_ptr<Engine> load_cpp_engine(const Model& model, const ModelFile& file,
                                                     const EngineOptions& options);

}  // namespace leapp
