#include "runtime/buffers.h"

#include <cstring>
#include <new>

namespace leapp {

void Buffers::Free::operator()(std::byte* memory) const noexcept {
  ::operator delete[](memory, std::align_val_t{kAlignment});
}

Buffers::Buffers(const std::vector<PlannedValue>& values) {
  std::size_t total = 0;
  std::vector<std::size_t> offsets;
  for (const PlannedValue& value : values) {
    const std::size_t bytes =
        static_cast<std::size_t>(element_count(value.shape)) * size_of(value.dtype);
    // Every half on its own cache lines; an empty value still gets an address of its own.
    const std::size_t stride = (bytes / kAlignment + 1) * kAlignment;
    offsets.push_back(total);
    sizes_.push_back(bytes);
    total += value.doubled ? 2 * stride : stride;
  }
  memory_.reset(static_cast<std::byte*>(
      ::operator new[](total == 0 ? kAlignment : total, std::align_val_t{kAlignment})));
  std::memset(memory_.get(), 0, total);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::byte* first = memory_.get() + offsets[i];
    std::byte* second =
        values[i].doubled ? first + (sizes_[i] / kAlignment + 1) * kAlignment : first;
    views_.push_back({TensorView{first, values[i].dtype, values[i].shape},
                      TensorView{second, values[i].dtype, values[i].shape}});
    own_.push_back(first);
  }
}

void Buffers::place(std::size_t value, void* data) noexcept {
  for (TensorView& view : views_[value]) view.data = data != nullptr ? data : own_[value];
}

}  // namespace leapp
