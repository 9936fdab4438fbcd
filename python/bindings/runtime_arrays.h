// Converts torch tensors and NumPy arrays, without headers of either.
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

/// Copies a torch tensor, a NumPy array or another object with `__dlpack__` into `buffer`. The
/// object may be strided or on another device. Throws Error naming `port` for other objects, or if
/// type or shape differ from the buffer's.
void read_array(py::handle object, const TensorView& buffer, const std::string& port);

/// Memory of an array, which is valid as long as `owner`: the array, or what it exported.
struct BorrowedMemory {
  void* data = nullptr;
  py::object owner;
};

/// Returns the memory of a contiguous array with the port's type and shape, on `device` or on the
/// host. Throws Error otherwise.
BorrowedMemory borrow_array(py::handle object, const std::optional<dlpack::Device>& device,
                            const TensorView& expected, const std::string& port, bool writable);

/// Returns "cuda:1" in DLPack's form; empty for the host.
std::optional<dlpack::Device> parse_device(const std::string& device);

/// Returns the memory of an array on `device`, or null if it must be copied through the host.
/// Throws Error if its type or shape is not the expected one.
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

  /// Creates a torch tensor on a device; `fill` receives its memory.
  py::object make_on(const dlpack::Device& device, const ConstTensorView& like,
                     const std::function<void(void*)>& fill) const;

 private:
  py::object make_numpy(const ConstTensorView& view) const;

  py::object torch_;
  const dlpack::ExchangeApi* exchange_ = nullptr;  // null if torch has no such function
};

}  // namespace leapp::python
