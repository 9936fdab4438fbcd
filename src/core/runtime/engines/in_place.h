// Engines that use weights in place, for models that run only a few times.
#pragma once

#include <filesystem>
#include <memory>

#include "leapp/engine.h"

namespace leapp {

/// Returns the engine of a new file that no other process uses, for a few ticks. The file is mapped
/// while the engine lives, and its weights are used in place. Throws as load_engine() does.
LEAPP_EXPORT std::unique_ptr<Engine> load_engine_in_place(const Model& model,
                                                          const std::filesystem::path& file,
                                                          Trust trust);

}  // namespace leapp
