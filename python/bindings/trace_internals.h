// Frames of Python, read by its public functions, and a slot of a type.
#pragma once

#include <pybind11/pybind11.h>

#include "trace/source.h"

namespace leapp::python {

/// Returns the innermost frame of this thread whose code is wanted; empty if there is none, or the
/// thread never ran Python. Takes the interpreter lock. `is_wanted` holds the code that it wants.
trace::FrameRef find_frame(bool (*is_wanted)(PyCodeObject*));

/// Parts of a frame object. The interpreter lock must be held.
pybind11::object code_of(const pybind11::object& frame);
pybind11::object globals_of(const pybind11::object& frame);
pybind11::object caller_of(const pybind11::object& frame);  ///< null if there is none
int position_of(const pybind11::object& frame);

/// Returns (name, value) of the variables that have a value; of a module none, because they are its
/// globals. The frame keeps no copy of them: a tensor must be freed when the program releases it.
pybind11::list variables_of(const pybind11::object& frame);

/// Returns the innermost frame; null outside of Python.
pybind11::object current_frame();

/// Replacing Tensor.__getitem__ from Python also makes Tensor a sequence in CPython's eyes, for
/// good; torch.tensor([..]) then takes 0-d tensors for lists. Puts the slot back as it was when
/// this was made, in subclasses too.
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
