// A contiguous tensor in somebody else's memory. Copying a view copies no element.
#pragma once

#include <cstddef>

#include "leapp/dtype.h"

namespace leapp {

/// Read and write access. The memory must outlive the view; `data` may be null only for 0 elements.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::kFloat32;
  Shape shape;

  std::size_t byte_size() const noexcept {
    return static_cast<std::size_t>(element_count(shape)) * size_of(dtype);
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
};

}  // namespace leapp
