// Checks TorchScript files before libtorch reads them.
//
// A TorchScript file is a program: libtorch compiles its source, and runs parts of it (default
// arguments, __setstate__) while it is still loading. Therefore LEAPP first reads the source, with
// libtorch's own lexer, and refuses everything that could do more than compute: see
// docs/explanation/security.md.
#pragma once

#include <caffe2/serialize/read_adapter_interface.h>

#include <memory>

#include "leapp/engine.h"

namespace leapp {

/// Returns the bytes of a model for libtorch's readers. They must outlive it.
std::shared_ptr<caffe2::serialize::ReadAdapterInterface> archive_over(const ModelFile& file);

/// Throws Error(Code::kNotTrusted) unless the file's code uses only operators that compute
/// (runtime/engines/operators.h) and its own functions, and no objects of C++ classes. Throws
/// Error(Code::kBadModel) for files that would overflow the stack of libtorch's parser.
void check_archive(const Model& node, const ModelFile& file);

}  // namespace leapp
