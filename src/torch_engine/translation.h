// TorchScript models that run in ONNX Runtime.
//
// In each tick libtorch looks up operators, computes sizes and allocates memory; ONNX Runtime does
// this once, when it loads the model. Therefore a model on the CPU whose graph can be expressed in
// ONNX is translated when it is loaded, and runs in a fraction of the time. The translation is used
// if its results on an example equal those of the TorchScript model, up to the rounding of sums in
// a different order. See docs/decisions/torchscript-runs-as-onnx.md.
#pragma once

#include <memory>

#include "leapp/engine.h"
#include "torch_engine/torch_program.h"

namespace leapp {

/// Returns the program, whose inputs and outputs are those of `signature`, as an engine of ONNX
/// Runtime with ports named in0, in1, .. and out0, out1, .. Returns null, with the reason in the
/// log, if that is not possible.
std::unique_ptr<Engine> translate(const Model& signature, const TorchProgram& program,
                                  const EngineOptions& options);

}  // namespace leapp
