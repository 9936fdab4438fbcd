// Runs ONNX models with ONNX Runtime, which is opened with dlopen when the first model needs it.
#pragma once

#include <filesystem>
#include <memory>

#include "leapp/engine.h"

namespace leapp {

/// The EngineFactory of the backend "onnx". Inputs and outputs are matched by name.
std::unique_ptr<Engine> load_onnx_engine(const Model& model, const std::filesystem::path& file,
                                         const EngineOptions& options);

}  // namespace leapp
