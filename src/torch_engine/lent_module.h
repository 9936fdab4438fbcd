// TorchScript modules whose weights are used in place, instead of being copied.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include "leapp/engine.h"

namespace leapp {

/// Loads a file like torch::jit::load(), on the CPU, but with tensors over the bytes of the file,
/// which must not be written to. The tensors keep `file.keeper` alive. Only for files of
/// torchscript::write(), whose records are not compressed and whose format is current.
torch::jit::Module load_in_place(const ModelFile& file);

}  // namespace leapp
