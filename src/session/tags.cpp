#include "session/tags.h"

#include <algorithm>

namespace leapp::session {
namespace {

constexpr std::size_t kMaxDetours = 4;  // enough to name a gap; longer chains say no more

std::int64_t version_of(const at::Tensor& tensor) {
  return tensor.is_inference() ? 0 : static_cast<std::int64_t>(tensor._version());
}

// From a tensor's first byte to its last, gaps included.
std::size_t extent_of(const at::Tensor& tensor) {
  if (tensor.numel() == 0) return 0;
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    last += (tensor.size(i) - 1) * tensor.stride(i);
  }
  return static_cast<std::size_t>(last + 1) * tensor.itemsize();
}

}  // namespace

std::optional<TagTable::Region> TagTable::region_of(const at::Tensor& tensor) {
  if (!tensor.has_storage() || !tensor.is_contiguous() || tensor.numel() == 0) return std::nullopt;
  return Region{tensor.const_data_ptr(), tensor.nbytes()};
}

bool TagTable::Entry::is_in_storage_of(const at::Tensor& tensor) const {
  return storage && storage->_unsafe_get_target() == tensor.storage().unsafeGetStorageImpl();
}

// The memory was neither freed and given to somebody else, nor written to since.
bool TagTable::Entry::holds_for(const at::Tensor& tensor) const {
  if (storage && storage->expired()) return false;
  return version == version_of(tensor) || tensor.is_inference();
}

void TagTable::set(const at::Tensor& tensor, Tag tag) {
  if (std::max(by_impl_.size(), by_region_.size()) >= next_sweep_) sweep();
  std::optional<c10::weak_intrusive_ptr<c10::StorageImpl>> storage;
  if (tensor.has_storage()) storage = tensor.storage().getWeakStorageImpl();
  const auto entry = std::make_shared<const Entry>(
      Entry{std::move(tag), c10::weak_intrusive_ptr<c10::TensorImpl>(tensor.getIntrusivePtr()),
            std::move(storage), version_of(tensor), tensor.sizes().vec()});
  by_impl_.insert_or_assign(tensor.unsafeGetTensorImpl(), entry);
  if (const auto region = region_of(tensor)) by_region_.insert_or_assign(*region, entry);
}

std::optional<Tag> TagTable::find(const at::Tensor& tensor) const {
  if (empty() || !tensor.defined()) return std::nullopt;
  const auto by_impl = by_impl_.find(tensor.unsafeGetTensorImpl());
  if (by_impl != by_impl_.end()) {
    const Entry& entry = *by_impl->second;
    if (entry.holds_for(tensor) && tensor.sizes() == entry.sizes) return entry.tag;
  }
  const auto region = region_of(tensor);
  if (!region) return std::nullopt;
  const auto by_region = by_region_.find(*region);
  if (by_region == by_region_.end()) return std::nullopt;
  const Entry& entry = *by_region->second;
  // A NumPy round trip makes a new storage, with a version counter of its own.
  const bool holds = entry.is_in_storage_of(tensor) ? entry.holds_for(tensor) : !entry.is_gone();
  return holds ? std::optional(entry.tag) : std::nullopt;
}

void TagTable::detour(Tag source, const at::Tensor& result, Detour detour,
                      std::shared_ptr<const BetweenCall> call, std::size_t index) {
  if (source.detours.size() < kMaxDetours) source.detours.push_back(std::move(detour));
  source.call = std::move(call);
  source.result = index;
  source.shape = result.sizes().vec();
  set(result, std::move(source));
}

std::vector<std::pair<at::Tensor, Tag>> TagTable::forget_memory(const at::Tensor& tensor) {
  std::vector<std::pair<at::Tensor, Tag>> kept;
  if (empty() || !tensor.has_storage()) return kept;
  const auto* const begin = static_cast<const std::byte*>(tensor.const_data_ptr());
  const auto* const end = begin + extent_of(tensor);
  std::erase_if(by_region_, [&](const auto& each) {
    const Entry& entry = *each.second;
    const auto* const from = static_cast<const std::byte*>(each.first.begin);
    const auto* const to = from + each.first.bytes;
    // By address: an array of the same memory has a storage of its own.
    const bool touched = begin < to && from < end && !entry.is_gone();
    const bool whole = tensor.is_contiguous() && begin <= from && to <= end;
    if (touched && !whole && !entry.tag.port.empty()) {
      if (auto impl = entry.impl.lock()) kept.emplace_back(std::move(impl), entry.tag);
    }
    const auto object = by_impl_.find(entry.impl._unsafe_get_target());
    if (touched && object != by_impl_.end() && object->second == each.second) {
      by_impl_.erase(object);
    }
    return touched || entry.is_in_storage_of(tensor);
  });
  by_impl_.erase(tensor.unsafeGetTensorImpl());
  return kept;
}

void TagTable::sweep() {
  for (auto it = by_impl_.begin(); it != by_impl_.end();) {
    if (it->second->is_gone()) {
      it = by_impl_.erase(it);
    } else {
      ++it;
    }
  }
  std::erase_if(by_region_, [](const auto& each) { return each.second->is_gone(); });
  next_sweep_ = std::max<std::size_t>(1024, 2 * std::max(by_impl_.size(), by_region_.size()));
}

}  // namespace leapp::session
