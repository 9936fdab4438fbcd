#include "session/tags.h"

#include <algorithm>

namespace leapp::session {
namespace {

constexpr std::size_t kMaxDetours = 4;  // enough to name a gap; longer chains say no more

std::int64_t version_of(const at::Tensor& tensor) {
  return tensor.is_inference() ? 0 : static_cast<std::int64_t>(tensor._version());
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

void TagTable::propagate(const Tag& source, const at::Tensor& result, bool copies,
                         const Detour& detour) {
  Tag tag = source;
  if (!copies && tag.detours.size() < kMaxDetours) tag.detours.push_back(detour);
  set(result, std::move(tag));
}

void TagTable::forget_memory(const at::Tensor& tensor) {
  if (entries_.empty() || !tensor.has_storage()) return;
  const c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
  for (auto it = by_region_.begin(); it != by_region_.end();) {
    const Entry& entry = entries_[it->second];
    const bool same = entry.storage && entry.storage->_unsafe_get_target() == storage;
    it = same ? by_region_.erase(it) : std::next(it);
  }
  by_impl_.erase(tensor.unsafeGetTensorImpl());
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
