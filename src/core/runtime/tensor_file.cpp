#include "leapp/tensor_file.h"

#include "bundle/safetensors.h"

namespace leapp {

TensorMap read_tensors(const std::filesystem::path& file) {
  const SafeTensors stored = SafeTensors::read(file);
  TensorMap tensors;
  for (const NamedTensorView& entry : stored.tensors()) {
    tensors.emplace(entry.name, Tensor(entry.tensor));
  }
  return tensors;
}

void write_tensors(const std::filesystem::path& file, const TensorMap& tensors) {
  std::vector<NamedTensorView> views;
  for (const auto& [name, tensor] : tensors) views.push_back({name, tensor.view()});
  write_safetensors(file, views);
}

}  // namespace leapp
