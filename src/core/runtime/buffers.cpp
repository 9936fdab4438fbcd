#include "runtime/buffers.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace leapp {

void Buffers::Free::operator()(std::byte* memory) const noexcept {
  if (device) {
    device->release(memory);
  } else {
    ::operator delete[](memory, std::align_val_t{kAlignment});
  }
}

Buffers::Buffers(const std::vector<PlannedValue>& values, std::shared_ptr<DeviceMemory> memory) {
  std::size_t total = 0;
  std::vector<std::size_t> offsets;
  for (const PlannedValue& value : values) {
    const std::size_t bytes =
        static_cast<std::size_t>(element_count(value.shape)) * size_of(value.dtype);
    // Every copy starts on its own cache line; an empty value still gets a unique address.
    const std::size_t stride = (bytes / kAlignment + 1) * kAlignment;
    offsets.push_back(total);
    sizes_.push_back(bytes);
    total += value.doubled ? 2 * stride : stride;
  }
  total = std::max(total, kAlignment);
  if (memory) {
    memory_ = {static_cast<std::byte*>(memory->allocate(total)), Free{memory}};
    const std::vector<std::byte> zeros(total);
    memory->copy(memory_.get(), zeros.data(), total, DeviceMemory::Copy::kToDevice).value();
  } else {
    memory_.reset(static_cast<std::byte*>(::operator new[](total, std::align_val_t{kAlignment})));
    std::memset(memory_.get(), 0, total);
  }
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
