#include "trace/capture.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <cstring>

#include "trace/dispatcher.h"
#include "trace/geometry.h"

namespace leapp::trace {

std::int64_t version_of(const at::Tensor& tensor) {
  return tensor.is_inference() ? 0 : static_cast<std::int64_t>(tensor._version());
}

at::Tensor alias_of(const at::Tensor& tensor) {
  c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  return at::Tensor(impl->shallow_copy_and_detach(impl->version_counter(),
                                                  /*allow_tensor_metadata_change=*/true));
}

const c10::StorageImpl* memory_of(const at::Tensor& tensor) {
  return tensor.defined() && tensor.has_storage() ? tensor.storage().unsafeGetStorageImpl()
                                                  : nullptr;
}

at::Tensor copy_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  if (tensor.is_cpu() && tensor.layout() == at::kStrided && tensor.is_contiguous() &&
      tensor.has_storage() && !tensor.is_conj() && !tensor.is_neg()) {
    // Most tensors are small: the operators would take longer than the copy.
    at::Tensor copy(at::detail::empty_cpu(tensor.sizes(), at::TensorOptions(tensor.scalar_type())));
    if (copy.nbytes() != 0) {
      std::memcpy(copy.mutable_data_ptr(), tensor.const_data_ptr(), copy.nbytes());
    }
    return copy;
  }
  const Unobserved guard;
  const at::NoGradGuard no_grad;
  return tensor.detach().clone(at::MemoryFormat::Contiguous);
}

Capture::Capture(const at::Tensor& tensor)
    : live_(alias_of(tensor)), version_(version_of(tensor)) {}

void Capture::freeze() {
  if (frozen_) return;
  frozen_ = copy_of(all_around(live_, at::kByte)).storage();
}

bool Capture::changed_unseen() const {
  return !frozen_ && version_of(live_) != version_;
}

at::Tensor Capture::content(const at::Tensor& alias) const {
  if (!frozen_) return alias;
  at::Tensor restored = at::empty({0}, alias.options());
  restored.set_(*frozen_, alias.storage_offset(), alias.sizes(), alias.strides());
  if (alias.unsafeGetTensorImpl()->is_wrapped_number()) {
    restored.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  return restored;
}

std::shared_ptr<Capture> CaptureTable::capture(const at::Tensor& tensor) {
  const auto& storage = tensor.storage();
  const c10::StorageImpl* key = storage.unsafeGetStorageImpl();
  const auto it = live_.find(key);
  if (it != live_.end()) {
    auto known = it->second.capture.lock();
    if (known && !known->frozen()) return known;
  }
  auto made = std::make_shared<Capture>(tensor);
  live_.insert_or_assign(
      key, Entry{c10::weak_intrusive_ptr<c10::StorageImpl>(storage.getWeakStorageImpl()), made});
  return made;
}

void CaptureTable::before_write(const at::Tensor& tensor) {
  if (live_.empty() || !tensor.has_storage()) return;
  const auto it = live_.find(tensor.storage().unsafeGetStorageImpl());
  if (it == live_.end()) return;
  if (const auto known = it->second.capture.lock()) known->freeze();
  live_.erase(it);
}

}  // namespace leapp::trace
