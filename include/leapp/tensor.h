// A tensor that owns its elements: contiguous, in host memory, aligned for vector instructions.
//
//   leapp::Tensor obs({1, 3}, {0.1f, 0.2f, 0.3f});
//   float first = obs.values<float>()[0];
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "leapp/dtype.h"
#include "leapp/error.h"
#include "leapp/tensor_view.h"

namespace leapp {

/// A value: copies are deep. As thread-safe as a std::vector.
class Tensor {
 public:
  static constexpr std::size_t kAlignment = 64;

  /// Creates an empty float32 tensor.
  Tensor() : Tensor(DType::kFloat32, {0}) {}

  /// Creates a tensor of zeros. Throws Error(kValue) for a shape with a negative size, or with too
  /// many bytes to count.
  Tensor(DType dtype, Shape shape)
      : dtype_(dtype), shape_(std::move(shape)), bytes_(checked_byte_size(dtype, shape_)) {}

  /// Copies the view. Throws Error(kValue) if it has elements but no memory.
  explicit Tensor(const ConstTensorView& view) : Tensor(view.dtype, view.shape) {
    if (bytes_.empty()) return;
    if (view.data == nullptr)
      throw Error(Code::kWrongValue, "the view has elements, but no memory");
    std::memcpy(bytes_.data(), view.data, bytes_.size());
  }

  template <typename T>
  Tensor(Shape shape, std::span<const T> values) : Tensor(dtype_of<T>(), std::move(shape)) {
    if (values.size_bytes() != bytes_.size()) {
      throw Error(Code::kWrongValue, std::to_string(values.size()) +
                                         " values do not fill a tensor of shape " +
                                         to_string(shape_));
    }
    if (!bytes_.empty()) std::memcpy(bytes_.data(), values.data(), bytes_.size());
  }
  template <typename T>
  Tensor(Shape shape, std::initializer_list<T> values)
      : Tensor(std::move(shape), std::span<const T>(values.begin(), values.size())) {}

  DType dtype() const noexcept { return dtype_; }
  const Shape& shape() const noexcept { return shape_; }
  std::size_t byte_size() const noexcept { return bytes_.size(); }
  void* data() noexcept { return bytes_.data(); }
  const void* data() const noexcept { return bytes_.data(); }

  TensorView view() { return {bytes_.data(), dtype_, shape_}; }
  ConstTensorView view() const { return {bytes_.data(), dtype_, shape_}; }

  /// Returns the elements. Throws Error(kType) unless T is the tensor's type.
  template <typename T>
  std::span<T> values() {
    return view().values<T>();
  }
  template <typename T>
  std::span<const T> values() const {
    return view().values<T>();
  }

  /// Returns whether type, shape and bytes are equal: NaN equals NaN here, and 0 differs from -0.
  bool operator==(const Tensor& other) const = default;

 private:
  // A std::vector with aligned memory.
  template <typename T>
  struct Allocator {
    using value_type = T;
    Allocator() = default;
    template <typename U>
    Allocator(const Allocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor)
    T* allocate(std::size_t count) {
      return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{kAlignment}));
    }
    void deallocate(T* memory, std::size_t) noexcept {
      ::operator delete (memory, std::align_val_t{kAlignment});
    }
    bool operator==(const Allocator&) const = default;
  };

  DType dtype_;
  Shape shape_;
  std::vector<std::byte, Allocator<std::byte>> bytes_;
};

}  // namespace leapp
