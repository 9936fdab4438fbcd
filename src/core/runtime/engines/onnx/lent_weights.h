// Weights that ONNX Runtime reads in place, instead of copying and packing them.
#pragma once

#include <onnxruntime_c_api.h>

#include <string>

#include "leapp/engine.h"
#include "runtime/engines/onnx/onnxruntime_library.h"

namespace leapp {

/// Returns the same model with its large weights declared as external data in the file itself.
/// `head` becomes the model without them; the result refers to `head` and to the bytes of `file`.
/// Weights that are not aligned for their type stay in the model.
ModelFile use_weights_in_place(const ModelFile& file, std::string& head);

/// Lets a session read external data in place without a copy: weights are not packed, not repacked
/// for convolutions, and nothing large is precomputed from them. Versions before 1.31 do not
/// support this and copy anyway.
void read_in_place(const OnnxRuntime& ort, OrtSessionOptions& settings);

}  // namespace leapp
