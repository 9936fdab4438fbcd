// A TorchScript file as an ONNX model, which runs faster: see
// docs/decisions/torchscript-runs-as-onnx.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/engine.h"

namespace leapp::translate {

/// Size up to which a TorchScript file is translated. While that happens, several copies of its
/// weights are in memory, and an export of a large model must not need them.
inline constexpr std::uintmax_t kMaxTranslatedBytes = std::uintmax_t{64} << 20;

/// A model in ONNX, and ONNX Runtime's engine of it. Ports: with_translation_ports().
struct Translation {
  std::string onnx;  ///< with its weights
  std::unique_ptr<Engine> engine;
};

/// Translates a file that is trusted or was checked, with one example for each input of the node.
/// Throws Error with the reason if ONNX cannot express the model, or if ONNX Runtime is missing or
/// refuses the result; the result is not compared with anything.
Translation translate(const Model& node, const std::filesystem::path& file,
                      const std::vector<at::Tensor>& examples);

}  // namespace leapp::translate
