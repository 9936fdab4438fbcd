// A tensor that owns its elements: contiguous, in host memory, aligned for vector instructions.
//
//   leapp::Tensor obs({1, 3}, {0.1f, 0.2f, 0.3f});
//   float first = obs.values<float>()[0];
#pragma once

#include <complex>
#include <concepts>
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

/// The DType of a C++ type; 16-bit and 8-bit floats have no C++ type of their own.
template <typename T>
constexpr DType dtype_of() {
  if constexpr (std::same_as<T, bool>) return DType::kBool;
  if constexpr (std::same_as<T, std::uint8_t>) return DType::kUInt8;
  if constexpr (std::same_as<T, std::int8_t>) return DType::kInt8;
  if constexpr (std::same_as<T, std::uint16_t>) return DType::kUInt16;
  if constexpr (std::same_as<T, std::int16_t>) return DType::kInt16;
  if constexpr (std::same_as<T, std::uint32_t>) return DType::kUInt32;
  if constexpr (std::same_as<T, std::int32_t>) return DType::kInt32;
  if constexpr (std::same_as<T, std::uint64_t>) return DType::kUInt64;
  if constexpr (std::same_as<T, std::int64_t>) return DType::kInt64;
  if constexpr (std::same_as<T, float>) return DType::kFloat32;
  if constexpr (std::same_as<T, double>) return DType::kFloat64;
  if constexpr (std::same_as<T, std::complex<float>>) return DType::kComplex64;
  if constexpr (std::same_as<T, std::complex<double>>) return DType::kComplex128;
}

/// A value: copies are deep. Not thread-safe beyond what a std::vector is.
class Tensor {
 public:
  static constexpr std::size_t kAlignment = 64;

  /// An empty float32 tensor.
  Tensor() : Tensor(DType::kFloat32, {0}) {}

  /// All zeros.
  Tensor(DType dtype, Shape shape)
      : dtype_(dtype),
        shape_(std::move(shape)),
        bytes_(static_cast<std::size_t>(element_count(shape_)) * size_of(dtype)) {}

  /// A copy of what is viewed.
  explicit Tensor(const ConstTensorView& view) : Tensor(view.dtype, view.shape) {
    if (!bytes_.empty()) std::memcpy(bytes_.data(), view.data, bytes_.size());
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

  /// The elements. Throws Error(kType) unless T is the tensor's type.
  template <typename T>
  std::span<T> values() {
    check_type(dtype_of<T>());
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  template <typename T>
  std::span<const T> values() const {
    check_type(dtype_of<T>());
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }

  /// Same type, same shape, same bytes: NaN equals NaN here, and 0 differs from -0.
  bool operator==(const Tensor& other) const = default;

 private:
  // std::vector over memory of our alignment.
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

  void check_type(DType asked) const {
    if (asked != dtype_) {
      throw Error(Code::kWrongType, "the tensor is " + std::string(name_of(dtype_)) + ", not " +
                                        std::string(name_of(asked)));
    }
  }

  DType dtype_;
  Shape shape_;
  std::vector<std::byte, Allocator<std::byte>> bytes_;
};

}  // namespace leapp
