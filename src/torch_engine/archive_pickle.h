// Checks the values in a TorchScript archive before libtorch reads them, because libtorch does not
// check the memory and sizes of tensors.
#pragma once

#include <caffe2/serialize/inline_container.h>

#include <string>
#include <string_view>

namespace leapp {

/// Returns why the values of a record are refused, or an empty string. A call of a function that
/// does more than hold values is refused. `folder` contains the memory of its tensors. Throws Error
/// (LP617) if PyTorch would not write such values, if a tensor exceeds its memory, or if a limit is
/// exceeded (base/pickle.h).
std::string find_pickle_fault(caffe2::serialize::PyTorchStreamReader& reader,
                              std::string_view pickle, const std::string& folder);

}  // namespace leapp
