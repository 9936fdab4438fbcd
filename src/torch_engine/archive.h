// TorchScript files, looked at before libtorch is handed them.
//
// A TorchScript file is a program: libtorch compiles its source, and runs parts of it (default
// arguments, __setstate__) while it is still loading. So the source is read here first, with
// libtorch's own lexer, and what could do more than compute is refused: see
// docs/explanation/security.md.
#pragma once

#include <caffe2/serialize/read_adapter_interface.h>

#include <memory>

#include "leapp/engine.h"

namespace leapp {

/// Returns the bytes of a model for libtorch's readers. They must outlive it.
std::shared_ptr<caffe2::serialize::ReadAdapterInterface> archive_over(const ModelFile& file);

/// Throws Error(Code::kNotTrusted) unless all that the file's code names are operators that compute
/// (runtime/engines/operators.h), functions of its own, and no objects of C++ classes. Throws
/// Error(Code::kBadModel) for files that would make libtorch's parser run out of stack.
void check_archive(const Model& node, const ModelFile& file);

}  // namespace leapp
