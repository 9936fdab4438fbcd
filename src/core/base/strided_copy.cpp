#include "base/strided_copy.h"

#include <cstring>

namespace leapp {
namespace {

// Copies the dimensions from `dimension` on. Returns the position after the last written element.
char* copy_from(const StridedElements& elements, std::size_t dimension, const char* from,
                char* to) noexcept {
  if (dimension == elements.shape.size()) {
    std::memcpy(to, from, elements.element_size);
    return to + elements.element_size;
  }
  for (std::int64_t i = 0; i < elements.shape[dimension]; ++i) {
    to = copy_from(elements, dimension + 1, from + i * elements.strides[dimension], to);
  }
  return to;
}

bool is_empty(const StridedElements& elements) noexcept {
  for (const std::int64_t size : elements.shape) {
    if (size == 0) return true;
  }
  return false;
}

}  // namespace

bool is_contiguous(const StridedElements& elements) noexcept {
  if (is_empty(elements)) return true;
  auto packed = static_cast<std::int64_t>(elements.element_size);
  for (std::size_t i = elements.shape.size(); i-- > 0;) {
    if (elements.shape[i] > 1 && elements.strides[i] != packed) return false;
    packed *= elements.shape[i];
  }
  return true;
}

void copy_strided(const StridedElements& elements, void* to) noexcept {
  if (is_empty(elements)) return;
  copy_from(elements, 0, static_cast<const char*>(elements.first), static_cast<char*>(to));
}

}  // namespace leapp
