// Reads ONNX models. Everything is checked against the available bytes: a damaged or hostile file
// causes an Error, never a crash.
#pragma once

#include <filesystem>
#include <string>

#include "leapp/visibility.h"
#include "onnx/model.h"

namespace leapp::onnx {

/// Reads a model out of memory; its tensors share `bytes`. `name` is its name in errors, which are
/// LP617. Weights in other files are not read (Tensor::external).
LEAPP_EXPORT Model parse_model(const Bytes& bytes, const std::string& name);

/// Reads a model file into memory once; its tensors share that memory. Throws kNotFound or kIo if
/// the file cannot be read.
LEAPP_EXPORT Model read_model(const std::filesystem::path& path);

/// Replaces every external weight by its bytes, read from `folder`. Refuses locations outside the
/// directory and ranges beyond the end of the file.
LEAPP_EXPORT void load_external_data(Model& model, const std::filesystem::path& folder);

}  // namespace leapp::onnx
