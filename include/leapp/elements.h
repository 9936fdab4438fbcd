// Elements in the caller's memory: an address that knows its type and its size.
//
//   std::vector<float> sensed(12);
//   manager.set_input(obs, sensed);                               // a vector, array or span
//   manager.set_input(obs, std::span(pointer, count));            // a pointer and a count
//   manager.set_input(obs, {leapp::DType::kFloat16, std::as_bytes(bits16)});  // no C++ type
//
// A plain pointer does not convert, because its type and size could not be checked. The classes
// hold the address, not the elements: the memory must outlive the call or the binding.
#pragma once

#include <cstddef>
#include <ranges>
#include <span>
#include <type_traits>

#include "leapp/dtype.h"
#include "leapp/tensor.h"
#include "leapp/tensor_view.h"

namespace leapp {

/// A contiguous range of an element type: std::vector<float>, double[3], std::span<std::int64_t>.
template <typename Range>
concept ElementRange = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    Element<std::remove_cv_t<std::ranges::range_value_t<Range>>>;

/// Elements to read.
class ConstElements {
 public:
  template <ElementRange Range>
  ConstElements(const Range& range) noexcept  // NOLINT(google-explicit-constructor)
      : data_(std::ranges::data(range)),
        dtype_(dtype_of<std::ranges::range_value_t<const Range>>()),
        bytes_(std::ranges::size(range) * sizeof(std::ranges::range_value_t<const Range>)) {}
  ConstElements(const ConstTensorView& view) noexcept  // NOLINT(google-explicit-constructor)
      : ConstElements(view.data, view.dtype, view.byte_size()) {}
  ConstElements(const TensorView& view) noexcept  // NOLINT(google-explicit-constructor)
      : ConstElements(view.data, view.dtype, view.byte_size()) {}
  ConstElements(const Tensor& tensor) noexcept  // NOLINT(google-explicit-constructor)
      : ConstElements(tensor.data(), tensor.dtype(), tensor.byte_size()) {}
  /// Bytes that hold elements of `dtype`.
  ConstElements(DType dtype, std::span<const std::byte> bytes) noexcept
      : ConstElements(bytes.data(), dtype, bytes.size()) {}

  const void* data() const noexcept { return data_; }
  DType dtype() const noexcept { return dtype_; }
  std::size_t byte_size() const noexcept { return bytes_; }

 private:
  ConstElements(const void* data, DType dtype, std::size_t bytes) noexcept
      : data_(data), dtype_(dtype), bytes_(bytes) {}

  const void* data_;
  DType dtype_;
  std::size_t bytes_;
};

/// Elements to write.
class Elements {
 public:
  /// Refers to `range`, which must not be a temporary that owns its elements.
  template <typename Range>
  requires(ElementRange<Range>&& std::ranges::borrowed_range<Range> &&
           !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>)
      Elements(Range&& range)
  noexcept  // NOLINT(google-explicit-constructor)
      : data_(std::ranges::data(range)),
        dtype_(dtype_of<std::ranges::range_value_t<Range>>()),
        bytes_(std::ranges::size(range) * sizeof(std::ranges::range_value_t<Range>)) {}
  Elements(const TensorView& view) noexcept  // NOLINT(google-explicit-constructor)
      : data_(view.data), dtype_(view.dtype), bytes_(view.byte_size()) {}
  Elements(Tensor& tensor) noexcept  // NOLINT(google-explicit-constructor)
      : data_(tensor.data()), dtype_(tensor.dtype()), bytes_(tensor.byte_size()) {}
  /// Bytes that hold elements of `dtype`.
  Elements(DType dtype, std::span<std::byte> bytes) noexcept
      : data_(bytes.data()), dtype_(dtype), bytes_(bytes.size()) {}

  void* data() const noexcept { return data_; }
  DType dtype() const noexcept { return dtype_; }
  std::size_t byte_size() const noexcept { return bytes_; }

 private:
  void* data_;
  DType dtype_;
  std::size_t bytes_;
};

}  // namespace leapp
