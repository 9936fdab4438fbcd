// Recognises the program's code, and finds the current line in it.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

namespace leapp::python {

/// Uses Python's frames as the source of the user's lines, for the whole process. The interpreter
/// lock must be held.
void install_frame_hooks();

/// Stops using Python's frames. Call it before the interpreter exits.
void remove_frame_hooks() noexcept;

/// Returns whether code belongs to the program, and not to Python's standard library, PyTorch,
/// NumPy or this package. Other installed libraries count as the program. Lines, state and escapes
/// all use this function. Each thread caches the results, so only the first query for a code object
/// takes the interpreter lock.
bool is_user_code(PyCodeObject* code);
bool is_user_file(const std::string& file);

/// Adds `is_user_code(code or file name)` and `restore_sequence_slot()`.
void bind_frames(pybind11::module_& module);

}  // namespace leapp::python
