#include "onnx/model.h"

#include <array>
#include <cstring>

namespace leapp::onnx {
namespace {

constexpr std::array kPairs = {
    std::pair{DType::kBool, ElementType::kBool},
    std::pair{DType::kUInt8, ElementType::kUInt8},
    std::pair{DType::kInt8, ElementType::kInt8},
    std::pair{DType::kUInt16, ElementType::kUInt16},
    std::pair{DType::kInt16, ElementType::kInt16},
    std::pair{DType::kUInt32, ElementType::kUInt32},
    std::pair{DType::kInt32, ElementType::kInt32},
    std::pair{DType::kUInt64, ElementType::kUInt64},
    std::pair{DType::kInt64, ElementType::kInt64},
    std::pair{DType::kFloat8E4M3FN, ElementType::kFloat8E4M3FN},
    std::pair{DType::kFloat8E5M2, ElementType::kFloat8E5M2},
    std::pair{DType::kFloat16, ElementType::kFloat16},
    std::pair{DType::kBFloat16, ElementType::kBFloat16},
    std::pair{DType::kFloat32, ElementType::kFloat},
    std::pair{DType::kFloat64, ElementType::kDouble},
    std::pair{DType::kComplex64, ElementType::kComplex64},
    std::pair{DType::kComplex128, ElementType::kComplex128},
};

}  // namespace

ElementType element_type_of(DType dtype) noexcept {
  for (const auto& [ours, theirs] : kPairs) {
    if (ours == dtype) return theirs;
  }
  return ElementType::kUndefined;
}

std::optional<DType> dtype_of(ElementType type) noexcept {
  for (const auto& [ours, theirs] : kPairs) {
    if (theirs == type) return ours;
  }
  return std::nullopt;
}

std::string text_of(ElementType type) {
  const std::optional<DType> dtype = dtype_of(type);
  return dtype ? std::string(name_of(*dtype))
               : "ONNX type " + std::to_string(static_cast<int>(type));
}

std::string text_of(const std::vector<Dimension>& shape) {
  std::string text;
  for (const Dimension& dimension : shape) {
    const auto* fixed = std::get_if<std::int64_t>(&dimension);
    const std::string& name = fixed == nullptr ? std::get<std::string>(dimension) : "";
    text += (text.empty() ? "" : ", ") +
            (fixed != nullptr ? std::to_string(*fixed) : (name.empty() ? "?" : name));
  }
  return "[" + text + "]";
}

Bytes Bytes::copy_of(const void* data, std::size_t size) {
  std::shared_ptr<std::byte[]> copy(new std::byte[size]);
  if (size > 0) std::memcpy(copy.get(), data, size);
  const std::byte* first = copy.get();
  return {std::shared_ptr<const std::byte>(std::move(copy), first), size};
}

std::optional<std::int64_t> opset_of(const Model& model) {
  std::optional<std::int64_t> version;
  for (const Opset& opset : model.opsets) {
    if (opset.domain.empty() || opset.domain == "ai.onnx") version = opset.version;
  }
  return version;
}

std::vector<ValueInfo> fed_inputs(const Graph& graph) {
  std::set<std::string> weights;
  for (const Tensor& tensor : graph.initializers) weights.insert(tensor.name);
  std::vector<ValueInfo> inputs = graph.inputs;
  std::erase_if(inputs, [&](const ValueInfo& info) { return weights.contains(info.name); });
  return inputs;
}

std::set<std::string> external_locations(const Model& model) {
  std::set<std::string> locations;
  const auto add = [&](const Tensor& tensor) {
    if (tensor.external) locations.insert(tensor.external->location);
  };
  std::vector<const Graph*> graphs = {&model.graph};
  while (!graphs.empty()) {
    const Graph& graph = *graphs.back();
    graphs.pop_back();
    for (const Tensor& tensor : graph.initializers) add(tensor);
    for (const Node& node : graph.nodes) {
      for (const Attribute& attribute : node.attributes) {
        if (const auto* tensor = std::get_if<Tensor>(&attribute.value)) add(*tensor);
        const auto* inner = std::get_if<std::shared_ptr<const Graph>>(&attribute.value);
        if (inner != nullptr) graphs.push_back(inner->get());
      }
    }
  }
  return locations;
}

}  // namespace leapp::onnx
