// A contiguous tensor in memory that someone else owns. Copying a view copies no element.
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "leapp/dtype.h"
#include "leapp/error.h"

namespace leapp {

/// A C++ type that is an element type. There is none for 16-bit and 8-bit floats.
template <typename T>
concept Element = std::same_as<T, bool> || std::same_as<T, std::uint8_t> ||
    std::same_as<T, std::int8_t> || std::same_as<T, std::uint16_t> ||
    std::same_as<T, std::int16_t> || std::same_as<T, std::uint32_t> ||
    std::same_as<T, std::int32_t> || std::same_as<T, std::uint64_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, float> || std::same_as<T, double> ||
    std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

/// Returns the DType of a C++ type.
template <Element T>
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

/// Throws Error(kType) unless T is the element type.
template <Element T>
void require_type(DType dtype) {
  if (dtype_of<T>() == dtype) return;
  throw Error(Code::kWrongType, "the tensor is " + std::string(name_of(dtype)) + ", not " +
                                    std::string(name_of(dtype_of<T>())));
}

/// Read and write access. The memory must outlive the view; `data` may be null only for 0 elements.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::kFloat32;
  Shape shape;

  std::size_t byte_size() const noexcept {
    return static_cast<std::size_t>(element_count(shape)) * size_of(dtype);
  }

  /// Returns the elements. Throws Error(kType) unless T is their type.
  template <Element T>
  std::span<T> values() const {
    require_type<T>(dtype);
    return {static_cast<T*>(data), byte_size() / sizeof(T)};
  }
};

/// Read access only.
struct ConstTensorView {
  const void* data = nullptr;
  DType dtype = DType::kFloat32;
  Shape shape;

  ConstTensorView() = default;
  ConstTensorView(const void* data_, DType dtype_, Shape shape_)
      : data(data_), dtype(dtype_), shape(std::move(shape_)) {}
  ConstTensorView(const TensorView& view)  // NOLINT(google-explicit-constructor)
      : data(view.data), dtype(view.dtype), shape(view.shape) {}

  std::size_t byte_size() const noexcept {
    return static_cast<std::size_t>(element_count(shape)) * size_of(dtype);
  }

  /// Returns the elements. Throws Error(kType) unless T is their type.
  template <Element T>
  std::span<const T> values() const {
    require_type<T>(dtype);
    return {static_cast<const T*>(data), byte_size() / sizeof(T)};
  }
};

}  // namespace leapp
