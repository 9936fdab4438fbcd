#include "view/script_tensors.h"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/pickle.h"
#include "leapp/error.h"

namespace leapp::view {
namespace {

// More than any model has.
constexpr std::size_t kMostVisits = 100'000;
constexpr int kMostDepth = 64;
constexpr std::size_t kMostName = 4096;

using Kind = PickleValue::Kind;

std::optional<DType> dtype_of_storage(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, DType>, 12> kStorages = {
      {{"torch.FloatStorage", DType::kFloat32},
       {"torch.DoubleStorage", DType::kFloat64},
       {"torch.HalfStorage", DType::kFloat16},
       {"torch.BFloat16Storage", DType::kBFloat16},
       {"torch.LongStorage", DType::kInt64},
       {"torch.IntStorage", DType::kInt32},
       {"torch.ShortStorage", DType::kInt16},
       {"torch.CharStorage", DType::kInt8},
       {"torch.ByteStorage", DType::kUInt8},
       {"torch.BoolStorage", DType::kBool},
       {"torch.ComplexFloatStorage", DType::kComplex64},
       {"torch.ComplexDoubleStorage", DType::kComplex128}}};
  for (const auto& [storage, dtype] : kStorages) {
    if (storage == name) return dtype;
  }
  return std::nullopt;
}

Shape numbers_in(const PickleValue& tuple) {
  Shape numbers;
  for (const PickleValue* item : tuple.items) {
    numbers.push_back(item->kind == Kind::kNumber ? item->number : -1);
  }
  return numbers;
}

bool is_contiguous(const Shape& shape, const Shape& strides) {
  if (element_count(shape) == 0) return true;
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && (i >= strides.size() || strides[i] != expected)) return false;
    expected *= shape[i];
  }
  return true;
}

// A call of torch._utils._rebuild_tensor_v2((storage), offset, sizes, strides, ..).
std::optional<ScriptTensor> tensor_in(const PickleValue& call) {
  if (call.kind != Kind::kCall || call.items[0]->text != "torch._utils._rebuild_tensor_v2") {
    return std::nullopt;
  }
  const std::vector<const PickleValue*>& arguments = call.items[1]->items;
  if (arguments.size() < 4 || arguments[0]->kind != Kind::kStorage ||
      arguments[0]->items[0]->items.size() < 3 || arguments[1]->kind != Kind::kNumber) {
    return std::nullopt;
  }
  const std::vector<const PickleValue*>& storage = arguments[0]->items[0]->items;
  const std::optional<DType> dtype = dtype_of_storage(storage[1]->text);
  const std::int64_t offset = arguments[1]->number;
  if (!dtype || storage[2]->kind != Kind::kText || offset < 0) return std::nullopt;
  ScriptTensor tensor;
  tensor.storage = storage[2]->text;
  tensor.dtype = *dtype;
  tensor.shape = numbers_in(*arguments[2]);
  tensor.offset = static_cast<std::uint64_t>(offset);
  if (!checked_element_count(tensor.shape)) return std::nullopt;
  tensor.contiguous = is_contiguous(tensor.shape, numbers_in(*arguments[3]));
  return tensor;
}

// The tensors of an object and of those that it holds, which `visits` bounds.
void collect(const PickleValue& object, const std::string& prefix, int depth, std::size_t& visits,
             std::vector<ScriptTensor>& found) {
  if (depth > kMostDepth) return;
  const PickleValue& attributes = object.state == nullptr ? object : *object.state;
  for (const auto& [name, value] : attributes.keys) {
    if (++visits > kMostVisits || prefix.size() + name.size() > kMostName) return;
    if (std::optional<ScriptTensor> tensor = tensor_in(*value)) {
      tensor->name = prefix + name;
      found.push_back(std::move(*tensor));
    } else {
      collect(*value, prefix + name + ".", depth + 1, visits, found);
    }
  }
}

}  // namespace

std::vector<ScriptTensor> list_script_tensors(std::string_view bytes) {
  std::vector<ScriptTensor> found;
  std::size_t visits = 0;
  try {
    const Pickle pickle(bytes);
    collect(pickle.root(), "", 0, visits, found);
  } catch (const Error&) {
    return {};
  }
  return found;
}

}  // namespace leapp::view
