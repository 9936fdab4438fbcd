// Opens what build_native() made, once it was checked. From then on its code runs in this process.
#pragma once

#include <memory>

#include "leapp/engine.h"

namespace leapp {

/// Returns the EngineFactory of the backend "cpp". Throws Error: kNativeNotAllowed unless the file
/// may be run as machine code, kNotBuilt if it was not compiled, kStaleBuild if it was compiled
/// from another source or for another machine.
LEAPP_EXPORT std::unique_ptr<Engine> load_cpp_engine(const Model& model, const ModelFile& file,
                                                     const EngineOptions& options);

}  // namespace leapp
