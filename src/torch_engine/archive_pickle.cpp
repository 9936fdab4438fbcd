#include "torch_engine/archive_pickle.h"

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/check.h"
#include "base/pickle.h"
#include "leapp/dtype.h"

namespace leapp {
namespace {

using Kind = PickleValue::Kind;
using caffe2::serialize::PyTorchStreamReader;

constexpr std::string_view kTensor = "torch._utils._rebuild_tensor_v2";

// Functions that return their argument, as another type.
constexpr std::array<std::string_view, 8> kHoldValues = {"builtins.complex",
                                                         "collections.OrderedDict",
                                                         "torch.device",
                                                         "torch.jit._pickle.build_boollist",
                                                         "torch.jit._pickle.build_doublelist",
                                                         "torch.jit._pickle.build_intlist",
                                                         "torch.jit._pickle.build_tensorlist",
                                                         "torch.jit._pickle.restore_type_tag"};

void expect(bool condition, const char* reason) {
  require(condition, Code::kBadModel, reason);
}

// Bytes of one element: storages are called after it, as in torch.FloatStorage.
std::uint64_t element_size(const std::string& storage) {
  for (int i = 0; i < static_cast<int>(c10::ScalarType::NumOptions); ++i) {
    const auto type = static_cast<c10::ScalarType>(i);
    if (type == c10::ScalarType::Undefined || c10::isQIntType(type)) continue;
    if (storage == std::string("torch.") + c10::toString(type) + "Storage") {
      return c10::elementSize(type);
    }
  }
  throw Error(Code::kBadModel, "it has a tensor of an unknown type, " + storage);
}

// The elements of the memory that a tuple (storage, type, key, device, elements) describes.
std::uint64_t elements_of(const PickleValue& storage, PyTorchStreamReader& reader,
                          const std::string& folder) {
  const auto& tuple = storage.items[0]->items;
  expect(tuple.size() >= 5 && tuple[1]->kind == Kind::kGlobal && tuple[2]->kind == Kind::kText &&
             tuple[4]->kind == Kind::kNumber && tuple[4]->number >= 0,
         "the memory of a tensor is not described as PyTorch does");
  const auto elements = static_cast<std::uint64_t>(tuple[4]->number);
  if (elements == 0) return 0;
  const std::string record = folder + tuple[2]->text;
  expect(reader.hasRecord(record), "it lacks the memory of a tensor");
  expect(elements <= reader.getRecordSize(record) / element_size(tuple[1]->text),
         "a tensor has less memory than its type and its number of elements need");
  return elements;
}

// Returns whether a tensor of (memory, offset, sizes, strides, ..) is inside its memory.
bool lies_within(const std::vector<const PickleValue*>& tensor, std::uint64_t elements) {
  const auto is_number = [](const PickleValue* value) {
    return value->kind == Kind::kNumber && value->number >= 0;
  };
  const auto& sizes = tensor[2]->items;
  const auto& strides = tensor[3]->items;
  if (!is_number(tensor[1]) || sizes.size() != strides.size() ||
      !std::all_of(sizes.begin(), sizes.end(), is_number) ||
      !std::all_of(strides.begin(), strides.end(), is_number)) {
    return false;
  }
  Shape shape;
  std::uint64_t last = static_cast<std::uint64_t>(tensor[1]->number);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    shape.push_back(sizes[i]->number);
    std::uint64_t reach = 0;
    const auto steps = static_cast<std::uint64_t>(std::max<std::int64_t>(sizes[i]->number - 1, 0));
    if (__builtin_mul_overflow(steps, static_cast<std::uint64_t>(strides[i]->number), &reach) ||
        __builtin_add_overflow(last, reach, &last)) {
      return false;
    }
  }
  const std::optional<std::int64_t> count = checked_element_count(shape);
  return count && (*count == 0 || last < elements);
}

}  // namespace

std::string find_pickle_fault(PyTorchStreamReader& reader, std::string_view bytes,
                              const std::string& folder) {
  const Pickle pickle(bytes);
  for (const PickleValue& value : pickle.values()) {
    if (value.kind == Kind::kStorage) elements_of(value, reader, folder);
    if (value.kind != Kind::kCall) continue;
    const std::string& function = value.items[0]->text;
    if (function == kTensor) {
      const auto& tensor = value.items[1]->items;
      expect(tensor.size() >= 4 && tensor[0]->kind == Kind::kStorage,
             "a tensor is not described as PyTorch does");
      expect(lies_within(tensor, elements_of(*tensor[0], reader, folder)),
             "a tensor reaches beyond its memory");
    } else if (!function.starts_with("__torch__.") &&
               std::find(kHoldValues.begin(), kHoldValues.end(), function) == kHoldValues.end()) {
      return "its values call '" + function + "'";
    }
  }
  return {};
}

}  // namespace leapp
