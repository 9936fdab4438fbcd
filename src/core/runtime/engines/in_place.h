// Engines that leave weights where they lie, for models that run a few times.
#pragma once

#include <filesystem>
#include <memory>

#include "leapp/engine.h"

namespace leapp {

/// Returns the engine of a file that was just written and that no other process uses, for a few
/// ticks. Its weights stay in the file, which is mapped for as long as the engine lives. The model
/// is trusted.
LEAPP_EXPORT std::unique_ptr<Engine> load_engine_in_place(const Model& model,
                                                          const std::filesystem::path& file);

}  // namespace leapp
