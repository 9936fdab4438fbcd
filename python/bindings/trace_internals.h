// Python's frames, read by its public functions, and a slot of a type.
#pragma once

#include <pybind11/pybind11.h>

#include "trace/source.h"

namespace leapp::python {

/// Returns the innermost frame of this thread whose code is wanted; empty if there is none, or if
/// the thread never ran Python. Takes the interpreter lock. `is_wanted` keeps the code objects that
/// it accepts.
trace::FrameRef find_frame(bool (*is_wanted)(PyCodeObject*));

/// Functions for parts of a frame object. The interpreter lock must be held.
pybind11::object code_of(const pybind11::object& frame);
pybind11::object globals_of(const pybind11::object& frame);
pybind11::object caller_of(const pybind11::object& frame);  ///< null if there is none
int position_of(const pybind11::object& frame);

/// Returns (name, value) of the variables that have a value; none for a module, whose variables are
/// its globals. The frame keeps no copy of them, because a tensor must be freed when the program
/// releases it.
pybind11::list variables_of(const pybind11::object& frame);

/// Returns the innermost frame; null outside of Python.
pybind11::object current_frame();

/// Restores a slot: replacing Tensor.__getitem__ from Python also makes Tensor a sequence for
/// CPython, permanently, and torch.tensor([..]) then treats 0-d tensors as lists. Restores the slot
/// as it was when this object was created, in subclasses too.
class SequenceSlot {
 public:
  explicit SequenceSlot(pybind11::object type);
  void restore() const { restore(type_); }

 private:
  void restore(const pybind11::handle& type) const;

  pybind11::object type_;
  ssizeargfunc former_;
};

}  // namespace leapp::python
