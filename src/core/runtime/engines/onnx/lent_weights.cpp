#include "runtime/engines/onnx/lent_weights.h"

#include <cstddef>
#include <cstdint>

#include "onnx/reader.h"
#include "onnx/writer.h"

namespace leapp {
namespace {

constexpr std::size_t kAlignment = 16;  // size of the largest element, a complex number

bool can_be_lent(const onnx::Tensor& weight, std::span<const std::byte> file) {
  const std::byte* data = weight.raw.data.get();
  return weight.raw.size >= 1024 && data >= file.data() && data < file.data() + file.size() &&
         reinterpret_cast<std::uintptr_t>(data) % kAlignment == 0;
}

}  // namespace

ModelFile use_weights_in_place(const ModelFile& file, std::string& head) {
  const std::string name = file.path.filename().string();
  onnx::Model model = onnx::parse_model(onnx::Bytes::borrowed(file.bytes), file.path.string());
  for (onnx::Tensor& weight : model.graph.initializers) {
    if (!can_be_lent(weight, file.bytes)) continue;
    const std::ptrdiff_t offset = weight.raw.data.get() - file.bytes.data();
    weight.external = onnx::ExternalData{name, static_cast<std::uint64_t>(offset), weight.raw.size};
    weight.raw = {};
  }
  head = onnx::serialize(model);
  ModelFile lent = file;
  lent.bytes = std::as_bytes(std::span(head));
  lent.external_data.emplace_back(name, file.bytes);
  return lent;
}

void read_in_place(const OnnxRuntime& ort, OrtSessionOptions& settings) {
  const OrtApi& api = ort.api();
  const auto set = [&](const char* key, const char* value) {
    ort.check(api.AddSessionConfigEntry(&settings, key, value), key);
  };
  set("session.use_external_initializer_file_buffers_directly", "1");
  set("session.disable_prepacking", "1");
  set("optimization.constant_folding_max_output_size_in_bytes", "1048576");
  ort.check(api.SetSessionGraphOptimizationLevel(&settings, ORT_ENABLE_EXTENDED), "ONNX Runtime");
  ort.check(api.DisableCpuMemArena(&settings), "ONNX Runtime");
}

}  // namespace leapp
