// TorchScript models that ONNX Runtime runs.
//
// libtorch looks up, allocates and sizes anew what each operator needs in each tick; ONNX Runtime
// settled all that when the model was loaded. So a model on the CPU whose graph can be said in ONNX
// is translated when it is loaded, and runs in a fraction of the time. The translation is used when
// it gives what the TorchScript model gives on an example, up to the rounding of sums in another
// order. See docs/decisions/torchscript-runs-as-onnx.md.
#pragma once

#include <memory>

#include "leapp/engine.h"
#include "torch_engine/torch_program.h"

namespace leapp {

/// The program, whose inputs and outputs are those of `signature`, as an engine of ONNX Runtime
/// with ports called in0, in1, .. and out0, out1, .. Null, with a line in the log that has the
/// reason, where there is none that serves.
std::unique_ptr<Engine> translate(const Model& signature, const TorchProgram& program,
                                  const EngineOptions& options);

}  // namespace leapp
