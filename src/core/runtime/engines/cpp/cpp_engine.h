// Runs a generated C++ model (leapp/cpp_model.h) that was compiled into a shared object.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "leapp/engine.h"

namespace leapp {

/// Opens the library, whose code then runs in this process, and prepares the model of the node with
/// a copy of the weights. Checks its table against the model's ports. Throws Error with the node's
/// name. Runs do not allocate.
LEAPP_EXPORT std::unique_ptr<Engine> load_cpp_library(const Model& model,
                                                      const std::filesystem::path& library,
                                                      std::span<const std::byte> weights);

}  // namespace leapp
