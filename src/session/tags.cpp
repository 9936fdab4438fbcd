#include "session/tags.h"

#include <algorithm>

#include "session/erase_where.h"
#include "trace/geometry.h"

namespace leapp::session {
namespace {

constexpr std::size_t kMaxDetours = 4;  // messages name at most this many operators

}  // namespace

TagTable::TagTable() {
  constexpr std::size_t kTensors = 64;
  entered_.reserve(kTensors);
}

TagTable::Region TagTable::extent_of(const at::Tensor& tensor) {
  return {reinterpret_cast<std::uintptr_t>(trace::begin_of(tensor)),
          reinterpret_cast<std::uintptr_t>(trace::end_of(tensor))};
}

std::optional<TagTable::Region> TagTable::region_of(const at::Tensor& tensor) {
  if (!tensor.has_storage() || !tensor.is_contiguous() || tensor.numel() == 0) return std::nullopt;
  return extent_of(tensor);
}

// Returns whether the memory was neither freed nor written to since.
bool TagTable::Entry::holds_for(const at::Tensor& tensor) const {
  if (storage && storage->expired()) return false;
  return version == trace::version_of(tensor) || tensor.is_inference();
}

void TagTable::set(const at::Tensor& tensor, TagRef tag) {
  if (std::max(by_impl_.size(), by_region_.size()) >= next_sweep_) sweep();
  std::optional<c10::weak_intrusive_ptr<c10::StorageImpl>> storage;
  if (tensor.has_storage()) storage = tensor.storage().getWeakStorageImpl();
  const auto entry = std::make_shared<const Entry>(
      Entry{std::move(tag), c10::weak_intrusive_ptr<c10::TensorImpl>(tensor.getIntrusivePtr()),
            std::move(storage), trace::version_of(tensor), c10::DimVector(tensor.sizes())});
  by_impl_.insert_or_assign(tensor.unsafeGetTensorImpl(), entry);
  if (entry->tag->port.empty()) return;
  if (const auto region = region_of(tensor)) {
    by_region_.insert_or_assign(*region, entry);
    longest_region_ = std::max(longest_region_, region->end - region->begin);
  }
}

TagRef TagTable::find(const at::Tensor& tensor) const {
  if (empty() || !tensor.defined()) return nullptr;
  const auto by_impl = by_impl_.find(tensor.unsafeGetTensorImpl());
  if (by_impl != by_impl_.end()) {
    const Entry& entry = *by_impl->second;
    if (entry.holds_for(tensor) && tensor.sizes() == c10::IntArrayRef(entry.sizes))
      return entry.tag;
  }
  const auto region = region_of(tensor);
  if (!region) return nullptr;
  const auto by_region = by_region_.find(*region);
  if (by_region == by_region_.end()) return nullptr;
  const Entry& entry = *by_region->second;
  // A NumPy round trip creates a new storage with its own version counter.
  const bool same_storage = entry.storage->_unsafe_get_target() == trace::memory_of(tensor);
  const bool holds = same_storage ? entry.holds_for(tensor) : !entry.is_gone();
  return holds ? entry.tag : nullptr;
}

void TagTable::set_detour(const Tag& source, const at::Tensor& result, Detour detour,
                          std::shared_ptr<const BetweenCall> call, std::size_t index) {
  auto tag = std::make_shared<Tag>(source);
  if (tag->detours.size() < kMaxDetours) tag->detours.push_back(std::move(detour));
  tag->call = std::move(call);
  tag->result = index;
  tag->shape = result.sizes().vec();
  tag->dtype = result.scalar_type();
  set(result, std::move(tag));
}

std::vector<std::pair<at::Tensor, TagRef>> TagTable::forget_memory(const at::Tensor& tensor) {
  std::vector<std::pair<at::Tensor, TagRef>> kept;
  if (empty() || !tensor.has_storage()) return kept;
  // By address, because an array over the same memory has its own storage.
  const Region written = extent_of(tensor);
  const std::uintptr_t first = written.begin - std::min(written.begin, longest_region_);
  auto it = by_region_.lower_bound({first, 0});
  while (it != by_region_.end() && it->first.begin < written.end) {
    const auto& [region, entry] = *it;
    if (region.end <= written.begin) {
      ++it;
      continue;
    }
    const bool whole =
        tensor.is_contiguous() && written.begin <= region.begin && region.end <= written.end;
    if (!whole && !entry->tag->port.empty() && !entry->is_gone()) {
      if (auto impl = entry->impl.lock()) kept.emplace_back(std::move(impl), entry->tag);
    }
    const auto object = by_impl_.find(entry->impl._unsafe_get_target());
    if (object != by_impl_.end() && object->second == entry) by_impl_.erase(object);
    it = by_region_.erase(it);
  }
  by_impl_.erase(tensor.unsafeGetTensorImpl());
  return kept;
}

void TagTable::enter(const at::Tensor& handle, TagRef inside) {
  entered_.insert_or_assign(handle.unsafeGetTensorImpl(), std::move(inside));
}

void TagTable::leave(const at::Tensor& handle) {
  entered_.erase(handle.unsafeGetTensorImpl());
}

TagRef TagTable::find_inside(const at::Tensor& tensor) const {
  const auto entered = entered_.find(tensor.unsafeGetTensorImpl());
  return entered != entered_.end() ? entered->second : find(tensor);
}

void TagTable::sweep() {
  erase_where(by_impl_, [](const auto& each) { return each.second->impl.expired(); });
  std::erase_if(by_region_, [](const auto& each) { return each.second->is_gone(); });
  next_sweep_ = std::max<std::size_t>(1024, 2 * std::max(by_impl_.size(), by_region_.size()));
}

}  // namespace leapp::session
