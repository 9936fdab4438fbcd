// Reads any bytes as safetensors: the result is tensors or an Error. Every byte of the tensors can
// be read, and they can be written and read again.
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "bundle/safetensors.h"
#include "leapp/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  leapp::SafeTensors tensors;
  try {
    tensors = leapp::SafeTensors::parse(bytes, "fuzz.safetensors");
  } catch (const leapp::Error&) {
    return 0;
  }
  unsigned sum = 0;
  for (const auto& [name, tensor] : tensors.tensors()) {
    const auto* const begin = static_cast<const std::uint8_t*>(tensor.data);
    sum = std::accumulate(begin, begin + tensor.byte_size(), sum);
  }
  const std::string again = leapp::to_safetensors(tensors.tensors(), tensors.metadata());
  if (leapp::SafeTensors::parse(again, "again").tensors().size() != tensors.tensors().size()) {
    std::abort();
  }
  return sum == 0xFFFFFFFF ? 1 : 0;
}
