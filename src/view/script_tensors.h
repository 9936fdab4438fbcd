// The tensors of a TorchScript archive by name, read without libtorch and without running anything:
// the pickle in which they are listed is taken apart as data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "leapp/dtype.h"

namespace leapp::view {

/// A tensor as the archive describes it. `storage` is the name of the entry below data/.
struct ScriptTensor {
  std::string name;  ///< "actor.0.weight"
  std::string storage;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::uint64_t offset = 0;  ///< in elements
  bool contiguous = true;
};

/// What data.pkl lists, in its order. Stops, with what there is so far, at the first thing that
/// PyTorch does not write.
std::vector<ScriptTensor> list_script_tensors(std::string_view pickle);

}  // namespace leapp::view
