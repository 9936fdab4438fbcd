// The NumPy arrays and tensors that the program holds at one moment.
#pragma once

#include <ATen/core/Tensor.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_set>

namespace leapp::python {

/// The arrays, NumPy numbers and tensors that objects and functions of the program held when this
/// object was created, with a checksum of their contents.
///
/// Finds them through Python's garbage collector, so no code of the program runs. Holds only weak
/// references. The interpreter lock must be held. Creating one visits every object of the process,
/// which takes tens of milliseconds in a process with PyTorch.
class HeldArrays {
 public:
  HeldArrays();

  /// The answer for a value that the program uses now.
  enum class Verdict { kHeld, kChanged, kUnknown };

  /// Returns whether the memory of this array was held and still has its content. The content of
  /// arrays above 4 MB is not compared, nor that of more than 64 MB in total.
  Verdict verdict_on(const pybind11::array& array) const;
  /// Returns the same for a tensor. Parameters and tensors on other devices are unknown.
  Verdict verdict_on(const at::Tensor& tensor) const;

  /// Returns whether this NumPy number was held.
  bool holds_number(const pybind11::handle& number) const {
    return numbers_.contains(number.ptr());
  }

 private:
  struct Memory {
    const std::byte* end = nullptr;
    pybind11::object owner = {};  // a weak reference to an array; or
    std::optional<c10::weak_intrusive_ptr<c10::StorageImpl>> storage = {};  // that of a tensor
    std::uint64_t checksum = 0;
    bool compared = false;
  };

  void add(const pybind11::array& owner);
  void add(const at::Tensor& tensor);
  void note_content(const std::byte* begin, Memory& memory);
  Verdict verdict_on(const std::byte* begin, const std::byte* end) const;

  std::map<const std::byte*, Memory> memory_;  // by the first byte
  std::unordered_set<const PyObject*> numbers_;
  std::size_t bytes_left_;
};

void bind_held_arrays(pybind11::module_& module);  ///< HeldArrays, for leapp._numpy

}  // namespace leapp::python
