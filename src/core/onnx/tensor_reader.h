// Reads one weight of an ONNX model, in any of the format's representations.
#pragma once

#include <protozero/pbf_reader.hpp>

#include "onnx/model.h"

namespace leapp::onnx {

/// Returns the tensor. Its elements share `file` if they are stored as raw bytes; a weight in
/// another file is not read (Tensor::external). Throws if bytes and shape disagree.
Tensor read_tensor(protozero::pbf_reader in, const Bytes& file);

/// Throws unless the tensor has the number of bytes that its shape and type require.
void check_size(const Tensor& tensor);

}  // namespace leapp::onnx
