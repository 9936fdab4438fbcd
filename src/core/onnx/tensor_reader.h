// Reads one weight of an ONNX model, in whichever of the format's ways it is stored.
#pragma once

#include <protozero/pbf_reader.hpp>

#include "onnx/model.h"

namespace leapp::onnx {

/// Returns the tensor's elements share `file` where they are stored as they are; a weight in
/// another file stays there (Tensor::external). Throws where bytes and shape do not agree.
Tensor read_tensor(protozero::pbf_reader in, const Bytes& file);

/// Throws unless the tensor has as many bytes as its shape and type say.
void check_size(const Tensor& tensor);

}  // namespace leapp::onnx
