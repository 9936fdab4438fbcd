// TorchScript modules whose weights are read where they lie, instead of being copied.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include "leapp/engine.h"

namespace leapp {

/// What torch::jit::load() makes of a file, on the CPU, but with tensors over the bytes of the
/// file: those must not be written to. The tensors hold on to `file.keeper`. For files that
/// torchscript::write() wrote: no record of theirs is compressed, and their format is today's.
torch::jit::Module load_in_place(const ModelFile& file);

}  // namespace leapp
