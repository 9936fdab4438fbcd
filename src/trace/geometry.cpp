#include "trace/geometry.h"

#include <ATen/ops/empty.h>

#include <unordered_set>

#include "trace/capture.h"
#include "trace/dispatcher.h"

namespace leapp::trace {
namespace {

at::Tensor base_of(const at::Tensor& tensor) {
  return tensor.is_view() ? at::Tensor(tensor._base()) : tensor;
}

}  // namespace

const std::byte* begin_of(const at::Tensor& tensor) {
  if (memory_of(tensor) == nullptr) return nullptr;
  return static_cast<const std::byte*>(tensor.const_data_ptr());
}

const std::byte* end_of(const at::Tensor& tensor) {
  if (tensor.numel() == 0) return begin_of(tensor);
  std::int64_t last = 0;
  for (std::int64_t d = 0; d < tensor.dim(); ++d) last += (tensor.size(d) - 1) * tensor.stride(d);
  return begin_of(tensor) + (last + 1) * static_cast<std::int64_t>(tensor.element_size());
}

bool same_geometry(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() &&
         a.strides() == b.strides() && begin_of(a) == begin_of(b) && a.is_conj() == b.is_conj() &&
         a.is_neg() == b.is_neg();
}

bool covers(const at::Tensor& whole, const at::Tensor& part) {
  if (part.numel() == 0) return true;
  return whole.numel() > 0 && whole.is_non_overlapping_and_dense() &&
         begin_of(whole) <= begin_of(part) && end_of(whole) >= end_of(part);
}

bool share_elements(const at::Tensor& a, const at::Tensor& b) {
  if (memory_of(a) == nullptr || memory_of(a) != memory_of(b)) return false;
  if (a.numel() == 0 || b.numel() == 0) return false;
  if (begin_of(a) >= end_of(b) || begin_of(b) >= end_of(a)) return false;
  if (a.scalar_type() != b.scalar_type() || covers(a, b) || covers(b, a)) return true;
  std::unordered_set<std::int64_t> of_a;
  for_each_offset(a.sizes(), a.strides(), a.storage_offset(),
                  [&](std::int64_t at) { of_a.insert(at); });
  bool found = false;
  for_each_offset(b.sizes(), b.strides(), b.storage_offset(),
                  [&](std::int64_t at) { found |= of_a.count(at) > 0; });
  return found;
}

at::Tensor whole_of(const at::Tensor& a, const at::Tensor& b) {
  const auto has_both = [&](const at::Tensor& whole) {
    return whole.scalar_type() == a.scalar_type() && memory_of(whole) == memory_of(a) &&
           covers(whole, a) && covers(whole, b);
  };
  for (const at::Tensor& whole : {a, b, base_of(a), base_of(b)}) {
    if (has_both(whole)) return whole;
  }
  const at::Tensor all = all_around(a, a.scalar_type());
  return has_both(all) ? all : at::Tensor();
}

at::Tensor all_around(const at::Tensor& tensor, at::ScalarType type) {
  const Unobserved guard;
  const c10::Storage& storage = tensor.storage();
  const auto size = static_cast<std::int64_t>(storage.nbytes() / c10::elementSize(type));
  return at::empty({0}, tensor.options().dtype(type)).set_(storage, 0, {size}, {1});
}

}  // namespace leapp::trace
