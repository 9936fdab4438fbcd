// TorchScript models that run in ONNX Runtime.
//
// In each tick libtorch looks up operators, computes sizes and allocates memory; ONNX Runtime does
// this once, when it loads the model. Therefore a file may contain its translation to ONNX
// (B42, runtime/engines/translation.h), which runs in a fraction of the time. The translation was
// compared with the TorchScript model when it was added to the file; nothing is translated here.
// See docs/decisions/torchscript-runs-as-onnx.md.
#pragma once

#include <memory>
#include <vector>

#include "leapp/engine.h"

namespace leapp {

/// Returns the translation in a TorchScript file as an engine of ONNX Runtime on the CPU. Returns
/// null if the file has none, or, with a line in the log, if ONNX Runtime cannot run it. Throws
/// Error(kBadModel) for a translation that no ONNX model may look like.
std::unique_ptr<Engine> load_translation(const Model& signature, const ModelFile& file,
                                         const EngineOptions& options);

/// Returns the translations of several nodes as one engine, like a MergedEngineFactory. Returns
/// null if none of the files has one. Throws Error(kNotMerged) if only some have one.
std::unique_ptr<Engine> merge_translations(const Bundle& part, const std::vector<LoadedNode>& nodes,
                                           const Model& signature, const EngineOptions& options);

}  // namespace leapp
