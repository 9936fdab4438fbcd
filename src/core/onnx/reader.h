// Reads ONNX models. Everything is checked against the bytes that are there: a damaged or hostile
// file ends in an Error, never in a crash.
#pragma once

#include <filesystem>
#include <string>

#include "leapp/visibility.h"
#include "onnx/model.h"

namespace leapp::onnx {

/// Reads a model out of memory; its tensors share `bytes`. `name` stands for it in errors, which
/// are LP617. Weights that lie in another file stay where they are (Tensor::external).
LEAPP_EXPORT Model parse_model(const Bytes& bytes, const std::string& name);

/// Reads a model file into memory once; its tensors share that memory. Throws kNotFound or kIo
/// when the file cannot be read.
LEAPP_EXPORT Model read_model(const std::filesystem::path& path);

/// Replaces every external weight by its bytes, read from `folder`. Refuses locations that leave
/// the folder and ranges that the file does not have.
LEAPP_EXPORT void load_external_data(Model& model, const std::filesystem::path& folder);

}  // namespace leapp::onnx
