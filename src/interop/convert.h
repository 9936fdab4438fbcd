// The only place that converts between libtorch's types and LEAPP's.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <memory>

#include "ir/graph.h"
#include "leapp/dtype.h"
#include "leapp/tensor_view.h"

namespace leapp::interop {

/// Returns the type. Throws if LEAPP has no such type (quantised types, for example).
DType to_dtype(c10::ScalarType type);
c10::ScalarType to_scalar_type(DType dtype) noexcept;

/// Returns type, shape and device of a tensor.
ir::TensorType type_of(const at::Tensor& tensor);

/// Returns the tensor's elements as a blob in host memory. A contiguous CPU tensor is shared, not
/// copied.
ir::Blob to_blob(const at::Tensor& tensor);

/// Returns a tensor over the blob's memory. The tensor keeps that memory alive.
at::Tensor to_tensor(const ir::Blob& blob);

/// Returns the elements in contiguous host memory; shares memory that already is. An undefined
/// tensor stays undefined.
at::Tensor on_host(const at::Tensor& tensor);

/// Returns the elements of a contiguous CPU tensor; the tensor must outlive the view.
ConstTensorView view_of(const at::Tensor& tensor);

/// Returns an argument that contains no tensors. `type` is the schema's, which distinguishes a
/// dtype from an integer.
ir::Argument to_argument(const c10::IValue& value, const c10::Type& type);

/// Returns name, parameters and returns of an operator; one shared object per operator.
std::shared_ptr<const ir::Signature> signature_of(const c10::OperatorHandle& op);

}  // namespace leapp::interop
