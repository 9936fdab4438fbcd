// Which code is the program's, and at which of its lines it stands.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

namespace leapp::python {

/// Makes Python's frames the source of the user's lines for the whole process. The interpreter lock
/// must be held.
void install_frame_hooks();

/// Ends that; to be called before the interpreter goes away.
void remove_frame_hooks() noexcept;

/// Returns whether code is the program's, and not of Python's standard library, PyTorch, NumPy or
/// this package. Libraries that were installed are: the program is made of them. For lines, for
/// state and for escapes this is the one answer. Each thread remembers its answers, so that only
/// the first sight of a code object takes the interpreter lock.
bool is_user_code(PyCodeObject* code);
bool is_user_file(const std::string& file);

/// Adds `is_user_code(code or file name)` and `restore_sequence_slot()`.
void bind_frames(pybind11::module_& module);

}  // namespace leapp::python
