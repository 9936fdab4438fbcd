// Runs ONNX models with ONNX Runtime, which is opened with dlopen when the first model needs it.
#pragma once

#include <memory>

#include "leapp/engine.h"

namespace leapp {

/// Returns the EngineFactory of the backend "onnx", also for a model without a file (an empty
/// path). Inputs and outputs are matched by name.
LEAPP_EXPORT std::unique_ptr<Engine> load_onnx_engine(const Model& model, const ModelFile& file,
                                                      const EngineOptions& options);

/// Opens ONNX Runtime before the first model. Throws Error(kNotFound) if it is not installed.
LEAPP_EXPORT void preload_onnxruntime();

}  // namespace leapp
