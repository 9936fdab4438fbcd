// TorchScript modules whose weights are read where they lie, instead of being copied.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include "leapp/engine.h"

namespace leapp {

/// Loads a file like torch::jit::load(), on the CPU, but with tensors over the bytes of the file:
/// those must not be written to. The tensors keep `file.keeper` alive. For files of
/// torchscript::write(): their records are not compressed, and their format is the current one.
torch::jit::Module load_in_place(const ModelFile& file);

}  // namespace leapp
