// Torch tensors and NumPy arrays in and out, without a header of either.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <functional>
#include <optional>
#include <string>

#include "leapp/tensor_view.h"
#include "runtime_dlpack.h"

namespace leapp::python {

namespace py = pybind11;

/// Copies a torch tensor, a NumPy array or anything else with `__dlpack__` into `buffer`, strided
/// or on another device as it may be. Throws Error naming `port` when it is something else, or its
/// type or shape is not the buffer's.
void read_array(py::handle object, const TensorView& buffer, const std::string& port);

/// Returns the memory of a contiguous array of the port's type and shape, on `device` or on the
/// host. Throws Error otherwise.
void* borrow_array(py::handle object, const std::optional<dlpack::Device>& device,
                   const TensorView& expected, const std::string& port, bool writable);

/// Returns "cuda:1" in DLPack's form; empty for the host.
std::optional<dlpack::Device> parse_device(const std::string& device);

/// Returns the memory of an array that lies on `device` already, or null: then it has to be copied
/// by way of the host. Throws Error when its type or shape is not the expected one.
const void* find_on_device(py::handle object, const dlpack::Device& device,
                           const TensorView& expected, const std::string& port);

/// Creates the arrays that a manager returns.
class ArrayMaker {
 public:
  /// Creates a maker. `torch` is the imported module, or None for NumPy arrays.
  explicit ArrayMaker(py::object torch);

  bool is_torch() const { return !torch_.is_none(); }

  /// Returns a new array with a copy of the elements, which are on the host.
  py::object make(const ConstTensorView& view) const;

  /// Returns a new torch tensor on a device; `fill` is given its memory.
  py::object make_on(const dlpack::Device& device, const ConstTensorView& like,
                     const std::function<void(void*)>& fill) const;

 private:
  py::object make_numpy(const ConstTensorView& view) const;

  py::object torch_;
  const dlpack::ExchangeApi* exchange_ = nullptr;  // null where torch is too old for it
};

}  // namespace leapp::python
