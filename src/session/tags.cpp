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

void TagTable::set(const at::Tensor& tensor, Tag tag) {
  if (entries_.size() >= next_sweep_) sweep();
  std::optional<c10::weak_intrusive_ptr<c10::StorageImpl>> storage;
  if (tensor.has_storage()) storage = tensor.storage().getWeakStorageImpl();
  by_impl_.insert_or_assign(tensor.unsafeGetTensorImpl(), entries_.size());
  if (const auto region = region_of(tensor)) by_region_.insert_or_assign(*region, entries_.size());
  entries_.push_back({std::move(tag),
                      c10::weak_intrusive_ptr<c10::TensorImpl>(tensor.getIntrusivePtr()),
                      std::move(storage), version_of(tensor), tensor.sizes().vec()});
}

const TagTable::Entry* TagTable::valid(std::size_t index, const at::Tensor& tensor) const {
  const Entry& entry = entries_[index];
  // The memory was freed and given to somebody else, or written to since.
  if (entry.storage && entry.storage->expired()) return nullptr;
  return entry.version == version_of(tensor) || tensor.is_inference() ? &entry : nullptr;
}

std::optional<Tag> TagTable::find(const at::Tensor& tensor) const {
  if (entries_.empty() || !tensor.defined()) return std::nullopt;
  const auto by_impl = by_impl_.find(tensor.unsafeGetTensorImpl());
  if (by_impl != by_impl_.end()) {
    const Entry* entry = valid(by_impl->second, tensor);
    if (entry != nullptr && tensor.sizes() == entry->sizes) return entry->tag;
  }
  const auto region = region_of(tensor);
  if (!region) return std::nullopt;
  const auto by_region = by_region_.find(*region);
  if (by_region == by_region_.end()) return std::nullopt;
  const Entry& entry = entries_[by_region->second];
  if (entry.storage && entry.storage->expired()) return std::nullopt;
  // A NumPy round trip makes a new storage, with a version counter of its own.
  const bool same_storage = entry.storage && entry.storage->_unsafe_get_target() ==
                                                 tensor.storage().unsafeGetStorageImpl();
  if (same_storage && valid(by_region->second, tensor) == nullptr) return std::nullopt;
  return entry.tag;
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
  if (entries_.empty() || !tensor.has_storage()) return kept;
  const c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
  const auto* const begin = static_cast<const std::byte*>(tensor.const_data_ptr());
  const auto* const end = begin + extent_of(tensor);
  for (auto it = by_region_.begin(); it != by_region_.end();) {
    const Entry& entry = entries_[it->second];
    const auto* const from = static_cast<const std::byte*>(it->first.begin);
    const auto* const to = from + it->first.bytes;
    // By address: an array of the same memory has a storage of its own.
    const bool touched = begin < to && from < end && !entry.storage->expired();
    const bool whole = tensor.is_contiguous() && begin <= from && to <= end;
    if (touched && !whole && !entry.tag.port.empty()) {
      if (auto impl = entry.impl.lock()) kept.emplace_back(std::move(impl), entry.tag);
    }
    if (touched) forget_object(it->second);
    const bool same = entry.storage && entry.storage->_unsafe_get_target() == storage;
    it = touched || same ? by_region_.erase(it) : std::next(it);
  }
  by_impl_.erase(tensor.unsafeGetTensorImpl());
  return kept;
}

void TagTable::forget_object(std::size_t index) {
  const auto it = by_impl_.find(entries_[index].impl._unsafe_get_target());
  if (it != by_impl_.end() && it->second == index) by_impl_.erase(it);
}

void TagTable::sweep() {
  std::vector<Entry> kept;
  ska::flat_hash_map<const c10::TensorImpl*, std::size_t> by_impl;
  std::unordered_map<Region, std::size_t, RegionHash> by_region;
  std::vector<std::size_t> moved(entries_.size(), SIZE_MAX);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const bool dead =
        entries_[i].storage ? entries_[i].storage->expired() : entries_[i].impl.expired();
    if (dead) continue;
    moved[i] = kept.size();
    kept.push_back(std::move(entries_[i]));
  }
  for (const auto& [impl, i] : by_impl_) {
    if (moved[i] != SIZE_MAX) by_impl.emplace(impl, moved[i]);
  }
  for (const auto& [region, i] : by_region_) {
    if (moved[i] != SIZE_MAX) by_region.emplace(region, moved[i]);
  }
  entries_ = std::move(kept);
  by_impl_ = std::move(by_impl);
  by_region_ = std::move(by_region);
  next_sweep_ = std::max<std::size_t>(1024, entries_.size() * 2);
}

void TagTable::clear() {
  entries_.clear();
  by_impl_.clear();
  by_region_.clear();
}

}  // namespace leapp::session
