// Whatever the bytes, a model file of PyTorch ends in facts or in a remark: the archive, the pickle
// in it and a program's JSON. Weights that were found can be looked at to their last element.
#include <cstdint>

#include "scratch_file.h"
#include "view/distribution.h"
#include "view/model_facts.h"
#include "view/script_tensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ScratchFile file;
  file.write(data, size);
  leapp::Model model;
  model.backend = "jit";
  model.file = leapp::FileEntry{file.path().filename().string(), "", ""};
  const leapp::view::ModelFacts facts = leapp::view::read_facts(model, file.folder(), {});
  for (const leapp::view::Weight& weight : facts.weights) {
    if (weight.tensor.data != nullptr) leapp::view::distribution_of(weight.tensor);
  }
  // The pickle alone as well: an archive's lengths hide it from most changes.
  leapp::view::list_script_tensors({reinterpret_cast<const char*>(data), size});
  return 0;
}
