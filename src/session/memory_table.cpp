#include "session/memory_table.h"

#include <utility>

#include "session/erase_where.h"

namespace leapp::session {

MemoryTable::MemoryTable() {
  constexpr std::size_t kTensors = 64;
  writers_.reserve(kTensors);
  creations_.reserve(kTensors);
}

void MemoryTable::set_writer(const at::Tensor& tensor, MemoryUse::Writer writer) {
  const c10::Storage& storage = tensor.storage();
  writers_.insert_or_assign(storage.unsafeGetStorageImpl(),
                            Entry<MemoryUse::Writer>{storage.getWeakStorageImpl(), writer});
}

const MemoryUse::Writer* MemoryTable::find_writer(const at::Tensor& tensor) const {
  const auto it = writers_.find(trace::memory_of(tensor));
  return it == writers_.end() || it->second.storage.expired() ? nullptr : &it->second.value;
}

void MemoryTable::add_creation(const at::Tensor& tensor, const at::Tensor& copied,
                               std::int32_t recorded_passes) {
  constexpr std::size_t kMost = 4096;
  if (!tensor.has_storage()) return;
  if (creations_.size() >= kMost) {
    erase_where(creations_, [](const auto& each) { return each.second.storage.expired(); });
    if (creations_.size() >= kMost) return;
  }
  Creation creation{.recorded_passes = recorded_passes};
  if (copied.defined() && copied.has_storage()) {
    const Creation* source = find_creation(copied);
    creation.copy_of = source != nullptr && source->copy_of ? source->copy_of
                                                            : copied.storage().getWeakStorageImpl();
  }
  const c10::Storage& storage = tensor.storage();
  creations_.insert_or_assign(storage.unsafeGetStorageImpl(),
                              Entry<Creation>{storage.getWeakStorageImpl(), std::move(creation)});
}

const MemoryTable::Creation* MemoryTable::find_creation(const at::Tensor& tensor) const {
  const auto it = creations_.find(trace::memory_of(tensor));
  return it == creations_.end() ? nullptr : &it->second.value;
}

}  // namespace leapp::session
