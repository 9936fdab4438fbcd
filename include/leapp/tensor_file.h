// Named tensors in a safetensors file: inputs recorded, outputs kept, a state put aside.
#pragma once

#include <filesystem>

#include "leapp/inference_manager.h"
#include "leapp/visibility.h"

namespace leapp {

/// Reads every tensor of the file. Throws Error: kNotFound, kIo, or kValue when it is unsound.
LEAPP_EXPORT TensorMap read_tensors(const std::filesystem::path& file);

/// Writes them. Throws Error(kIo) when it cannot, kValue for a type the format lacks (complex128).
LEAPP_EXPORT void write_tensors(const std::filesystem::path& file, const TensorMap& tensors);

}  // namespace leapp
