// Runs ONNX models with ONNX Runtime, which is opened with dlopen when the first model needs it.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "leapp/engine.h"

namespace leapp {

/// The EngineFactory of the backend "onnx". Inputs and outputs are matched by name.
std::unique_ptr<Engine> load_onnx_engine(const Model& model, const std::filesystem::path& file,
                                         const EngineOptions& options);

/// The same for a serialised model in memory, which is no longer needed afterwards.
LEAPP_EXPORT std::unique_ptr<Engine> load_onnx_engine(const Model& model,
                                                      std::span<const std::byte> bytes,
                                                      const EngineOptions& options);

/// Opens ONNX Runtime ahead of the first model. Throws Error(kNotFound) when it is not there.
LEAPP_EXPORT void preload_onnxruntime();

}  // namespace leapp
