// Named tensors in a safetensors file: recorded inputs, stored outputs, or a saved state.
#pragma once

#include <filesystem>

#include "leapp/inference_manager.h"
#include "leapp/visibility.h"

namespace leapp {

/// Reads every tensor of the file. Throws Error: kNotFound, kIo, or kValue if it is invalid.
LEAPP_EXPORT TensorMap read_tensors(const std::filesystem::path& file);

/// Writes the tensors. Throws Error(kIo) if the file cannot be written, and kValue for a type that
/// the format lacks (complex128).
LEAPP_EXPORT void write_tensors(const std::filesystem::path& file, const TensorMap& tensors);

}  // namespace leapp
