// Torch tensors and NumPy arrays in and out, without a header of either.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <string>

#include "leapp/tensor_view.h"
#include "runtime_dlpack.h"

namespace leapp::python {

namespace py = pybind11;

/// Copies a torch tensor, a NumPy array or anything else with `__dlpack__` into `buffer`, strided
/// or on another device as it may be. Throws Error naming `port` when it is something else, or its
/// type or shape is not the buffer's.
void read_array(py::handle object, const TensorView& buffer, const std::string& port);

/// The memory of a contiguous host array of the port's type and shape. Throws Error otherwise.
void* borrow_array(py::handle object, const TensorView& expected, const std::string& port,
                   bool writable);

/// Makes the arrays a manager hands out.
class ArrayMaker {
 public:
  /// `torch` is the imported module, or None for NumPy arrays.
  explicit ArrayMaker(py::object torch);

  /// A new array with a copy of the elements.
  py::object make(const ConstTensorView& view) const;

 private:
  py::object make_numpy(const ConstTensorView& view) const;
  py::object make_torch(const ConstTensorView& view) const;

  py::object torch_;
  const dlpack::ExchangeApi* exchange_ = nullptr;  // null where torch is too old for it
};

}  // namespace leapp::python
