// The tensors of a TorchScript archive by name, read without libtorch and without running code: the
// pickle that lists them is parsed as data.
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

/// Returns the tensors that data.pkl lists, in order; none if PyTorch would not write such a
/// pickle.
std::vector<ScriptTensor> list_script_tensors(std::string_view bytes);

}  // namespace leapp::view
