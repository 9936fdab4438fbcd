// Reads any bytes as a model file of PyTorch: the result is facts or a remark. This covers the
// archive, its pickle and a program's JSON. Every element of the weights can be read.
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
  // Also reads the bytes as a bare pickle: in an archive, most changed bytes are refused because of
  // the lengths.
  leapp::view::list_script_tensors({reinterpret_cast<const char*>(data), size});
  return 0;
}
