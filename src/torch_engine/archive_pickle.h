// The values of a TorchScript archive, looked at before libtorch reads them: it takes the memory
// and the sizes of tensors as the file has them.
#pragma once

#include <caffe2/serialize/inline_container.h>

#include <string>
#include <string_view>

namespace leapp {

/// Returns why the values of a record are refused, empty if they are not: they call a function that
/// does more than hold values. `folder` has the memory of its tensors. Throws Error (LP617) for
/// values that are not what PyTorch writes, for tensors that reach beyond their memory, and for
/// limits that are exceeded (base/pickle.h).
std::string find_pickle_fault(caffe2::serialize::PyTorchStreamReader& reader,
                              std::string_view pickle, const std::string& folder);

}  // namespace leapp
