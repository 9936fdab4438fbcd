// A tensor of the ONNX graph under construction. Its element type and shape are always known.
//
// A Value is a small handle, copied freely; its Builder must outlive it.
#pragma once

#include <cstdint>

#include "leapp/dtype.h"

namespace leapp::onnx_export {

struct Type {
  DType dtype = DType::kFloat32;
  Shape shape;

  bool operator==(const Type&) const = default;
};

class Builder;

class Value {
 public:
  /// Creates an undefined value, for an omitted input.
  Value() = default;
  Value(Builder* builder, std::int32_t id) : builder_(builder), id_(id) {}

  bool defined() const noexcept { return builder_ != nullptr; }

  const Type& type() const;
  DType dtype() const { return type().dtype; }
  const Shape& shape() const { return type().shape; }
  std::int64_t rank() const { return static_cast<std::int64_t>(shape().size()); }
  /// Returns the size along a dimension; negative dimensions count from the end.
  std::int64_t size(std::int64_t dim) const;
  std::int64_t count() const { return element_count(shape()); }
  bool is_constant() const;

  Builder& builder() const { return *builder_; }
  std::int32_t id() const noexcept { return id_; }
  bool operator==(const Value& other) const noexcept { return id_ == other.id_; }

 private:
  Builder* builder_ = nullptr;
  std::int32_t id_ = -1;
};

}  // namespace leapp::onnx_export
